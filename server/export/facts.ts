import type { FactFile } from '../catalog/fact-files.ts';
import { lastDayOf, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { ExportedFile } from '../load/export-manifest.ts';
import { daysOf } from '../load/staged-parts.ts';
import type { FactTableSchema } from '../load/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { LocalFiles } from '../storage/local-files.ts';
import { COPY_OPTIONS, type ExportFormat } from './formats.ts';

/** A stored file and the days of it that are exported. */
export interface FactExport {
  readonly schema: FactTableSchema;
  readonly project: string;
  readonly stored: FactFile;
  readonly range: Range;
  readonly format: ExportFormat;
}

export interface FactFolders {
  readonly store: FileStore;
  readonly target: LocalFiles;
}

/**
 * Exports the rows of a fact file between two days; null if there are none. A whole Parquet file is copied: it has the
 * snapshot format already, with the project in the name of its folder, unless it has instants, which are stored as numbers.
 * Rows of a month need the whole month.
 */
export async function exportFacts(
  session: Session,
  folders: FactFolders,
  { schema, project, stored, range, format }: FactExport,
): Promise<ExportedFile | null> {
  const { target } = folders;
  const file = `${schema.name}/project_id=${project}/${stored.part}.${format}`;
  const of = { table: schema.name, project, part: stored.part };
  const isContained = stored.firstDay >= range.from && lastDayIn(schema, stored) <= range.to;
  const instants = schema.columns.filter(({ type }) => type.name === 'TIMESTAMP').map(({ name }) => name);
  if (isContained && format === 'parquet' && instants.length === 0) {
    const { rows, firstDay, lastDay } = stored;
    return { ...of, rows, firstDay, lastDay, ...(await copyWhole(folders, stored, file)) };
  }
  using source = await folders.store.open([stored]);
  const parameters = { file: source.paths[0]!, ...range };
  const { first, last } = daysOf(schema);
  const fills = { first, last, end: schema.day === 'month' ? `last_day(${last})` : last };
  type Days = { readonly firstDay: string | null; readonly lastDay: string };
  const [days] = await session.rows<Days>(sqlTemplate('export/days', fills), parameters);
  if (days === undefined || days.firstDay === null) return null;
  const { firstDay, lastDay } = days;
  const times = instants.map((name) => `make_timestamp("${name}") as "${name}"`);
  const columns = times.length === 0 ? '*' : `* replace (${times.join(', ')})`;
  const text = sqlTemplate('export/facts', {
    ...fills,
    columns,
    order: schema.order.join(', '),
    format: COPY_OPTIONS[format],
  });
  const rows = await session.run(text, { ...parameters, target: target.prepare(file) });
  return { ...of, rows, firstDay, lastDay, ...(await target.seal(file)) };
}

/** The last day that the rows of a file cover. */
function lastDayIn({ day }: FactTableSchema, { lastDay }: FactFile): string {
  return day === 'month' ? lastDayOf(monthOf(lastDay)) : lastDay;
}

/** Copies a file and verifies the hash of the copy, and so that of the original. */
async function copyWhole({ store, target }: FactFolders, stored: FactFile, file: string) {
  await store.copy(stored, target.prepare(file));
  const copy = await target.seal(file);
  if (copy.sha256 !== stored.sha256) {
    throw new DamagedFile(
      store.addressOf(stored.file),
      stored.file,
      `its SHA-256 is ${copy.sha256} instead of ${stored.sha256}`,
    );
  }
  return copy;
}
