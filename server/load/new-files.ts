import type { Part, StoredTable } from '../catalog/manifest.ts';
import type { Day } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import type { Parameters, Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import type { FactStore } from '../storage/fact-store.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { PlannedFiles } from './planned-files.ts';
import { LoadRejected } from './problems.ts';
import { type FactTableSchema, MAX_PER_PART } from './tables.ts';

/** Where a load reads and writes fact files. */
export interface FactFiles {
  readonly store: FactStore;
  /** What was written before is compared with the manifest when it is read. */
  readonly checked: CheckedFiles;
  readonly planned: PlannedFiles;
}

/** A change of the manifest: the new file of a project, table and part, or none when no row is left. */
export interface PartChange {
  readonly project: string;
  readonly table: StoredTable;
  readonly part: Part;
  readonly written: WrittenFile | null;
}

interface Days {
  readonly firstDay: Day;
  readonly lastDay: Day;
}

export interface WrittenFile extends StoredFile, Days {
  readonly rows: number;
}

/** What a new file is for. */
export interface Place {
  readonly files: FactFiles;
  readonly shape: FactTableSchema;
  readonly project: string;
  readonly part: Part;
}

interface Statement {
  readonly text: string;
  readonly parameters: Parameters;
}

/**
 * Runs a statement that writes one file; null when it has no rows, and then there is no file. The content is durable,
 * the name is after `syncFolders` of the store.
 * @param known `of`: the file that a rollup is made from; `days`: what days it will have, where that is known
 * @param isMixed rows of a load and older ones: each have been looked at, together their sums may be too large
 */
export async function writeFile(
  session: Session,
  { files: { store, planned }, shape, project, part }: Place,
  table: StoredTable,
  { text, parameters }: Statement,
  { of, days = of, isMixed = false }: { of?: Omit<WrittenFile, 'rows'>; days?: Days; isMixed?: boolean } = {},
): Promise<WrittenFile | null> {
  const file = `facts/${table}/${project}/${part}-${newUuid()}.parquet`;
  planned.add(file);
  const target = store.prepare(file);
  const source = of ? { file: store.path(of.file) } : {};
  const rows = await session.run(text, { ...parameters, ...source, target });
  if (rows === 0) {
    await store.remove(file);
    return null;
  }
  const { firstDay, lastDay } = days ?? (await readDays(session, shape, target, isMixed));
  return { ...(await store.seal(file)), rows, firstDay, lastDay };
}

async function readDays(session: Session, shape: FactTableSchema, file: string, isMixed: boolean): Promise<Days> {
  const text = sqlTemplate('load/part_days', { day: shape.day });
  const [found] = await session.rows<Days & { largest: string }>(text, { file });
  if (isMixed) refuseTooLarge(shape, found!, MAX_PER_PART);
  return found!;
}

/** Each part has been looked at: only very many of them can come to too much together. */
export async function checkRunning(
  session: Session,
  { files: { store }, shape }: Place,
  { file, firstDay, lastDay }: WrittenFile,
): Promise<void> {
  const [found] = await session.rows<{ largest: string }>(sqlText('load/running_largest'), { file: store.path(file) });
  if (found !== undefined) refuseTooLarge(shape, { ...found, firstDay, lastDay }, Number.MAX_SAFE_INTEGER);
}

function refuseTooLarge(
  shape: FactTableSchema,
  { firstDay, lastDay, largest }: Days & { readonly largest: string },
  most: number,
): void {
  if (BigInt(largest) <= BigInt(most)) return;
  const message = `with what is loaded already, the sums from ${firstDay} to ${lastDay} are too large to be exact in JSON (${largest}).`;
  throw new LoadRejected([{ table: shape.name, column: null, message, rows: [] }]);
}
