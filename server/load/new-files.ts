import type { LoadLock } from '../catalog/catalog.ts';
import type { Part } from '../catalog/fact-files.ts';
import type { JoinedStore } from '../catalog/store.ts';
import type { Day } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import { LoadRejected } from '../domain/problems.ts';
import type { Parameters, Session } from '../facts/duckdb/engine.ts';
import type { StoredTable } from '../model/tables.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { daysOf, MAX_PER_PART, sumsOf } from './staged-parts.ts';
import type { FactTableSchema } from './tables.ts';

/** Where a load reads and writes fact files. */
export interface FactFiles {
  readonly store: JoinedStore;
  /** Records a file before it is written. */
  readonly lock: Pick<LoadLock, 'plan'>;
}

/** A change of the manifest: the new file of a project, table and part; null if no rows are left. */
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

/** The project, table and part of a new file. */
export interface Target {
  readonly files: FactFiles;
  readonly schema: FactTableSchema;
  readonly project: string;
  readonly part: Part;
}

interface Statement {
  readonly text: string;
  readonly parameters: Parameters;
}

/**
 * Runs a statement that writes one file. Returns null, and leaves no file, if there are no rows. The content is durable;
 * the name becomes durable with `syncFolders` of the store. Throws `LoadRejected` if sums are too large.
 * @param options `source`: the file that a rollup is made of; `days`: the days of the file, if known; `isMixed`: the file combines
 * new and stored rows, whose sums have only been checked separately
 */
export async function writeFile(
  session: Session,
  { files: { store, lock }, schema, project, part }: Target,
  table: StoredTable,
  { text, parameters }: Statement,
  { source, days = source, isMixed = false }: { source?: StoredFile & Days; days?: Days; isMixed?: boolean } = {},
): Promise<WrittenFile | null> {
  const file = `facts/${table}/${project}/${part}-${newUuid()}.parquet`;
  await lock.plan(file);
  const target = store.prepare(file);
  using opened = source && (await store.open([source]));
  const rows = await session.run(text, { ...parameters, ...(opened && { file: opened.paths[0]! }), target });
  if (rows === 0) {
    await store.remove(file);
    return null;
  }
  const { firstDay, lastDay } = days ?? (await readDays(session, schema, target, isMixed));
  return { ...(await store.seal(file)), rows, firstDay, lastDay };
}

async function readDays(session: Session, schema: FactTableSchema, file: string, isMixed: boolean): Promise<Days> {
  const text = sqlTemplate('load/part_days', { ...daysOf(schema), ...sumsOf(schema) });
  const [found] = await session.rows<Days & { largest: string }>(text, { file });
  if (isMixed) refuseTooLarge(schema, found!, MAX_PER_PART);
  return found!;
}

/** Throws `LoadRejected` if running totals are too large. Each part has been checked, so only many parts can exceed the limit. */
export async function checkRunning(
  session: Session,
  { files: { store }, schema }: Target,
  written: WrittenFile,
): Promise<void> {
  using opened = await store.open([written]);
  const parameters = { file: opened.paths[0]! };
  const [found] = await session.rows<{ largest: string }>(sqlText('load/running_largest'), parameters);
  const { firstDay, lastDay } = written;
  if (found !== undefined) refuseTooLarge(schema, { ...found, firstDay, lastDay }, Number.MAX_SAFE_INTEGER);
}

function refuseTooLarge(
  schema: FactTableSchema,
  { firstDay, lastDay, largest }: Days & { readonly largest: string },
  max: number,
): void {
  if (BigInt(largest) <= BigInt(max)) return;
  const message = `together with the data already loaded, the sums from ${firstDay} to ${lastDay} are too large to be exact in JSON (${largest}).`;
  throw new LoadRejected([{ table: schema.name, column: null, message, rows: [] }]);
}
