import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, manifestOf, type Part } from '../catalog/fact-files.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { Engine, Session } from '../facts/duckdb/engine.ts';
import type { StoredTable } from '../model/tables.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/file-store.ts';
import {
  checkRunning,
  type FactFiles,
  type PartChange,
  type Target,
  type WrittenFile,
  writeFile,
} from './new-files.ts';
import { PARTS_WITHOUT_CHECK } from './staged-parts.ts';

/** Rows of a part repeat a key. */
export class RepeatedKeys extends Error {}

interface RollupsOptions {
  readonly tables?: readonly StoredTable[];
  /** Throws `RepeatedKeys` if rows of the file repeat a key. */
  readonly checked?: boolean;
}

/** Writes the rollups of one part from its file; none if it has no rows. */
export async function writePartRollups(
  session: Session,
  target: Target,
  source: WrittenFile | null,
  { tables = target.schema.rollups, checked = false }: RollupsOptions = {},
): Promise<PartChange[]> {
  const { project, part } = target;
  const changes: PartChange[] = [];
  for (const table of tables) {
    const statement = { text: sqlText(`load/rollups/${table}`), parameters: { checked } };
    const written = source && (await writeFile(session, target, table, statement, { source }).catch(explain));
    changes.push({ project, table, part, written });
  }
  return changes;
}

function explain(error: unknown): never {
  if (error instanceof Error && error.message.includes('repeated keys')) throw new RepeatedKeys(error.message);
  throw error;
}

interface RunningInput {
  readonly table: StoredTable;
  /** The changes of the parts that are summed. */
  readonly changes: readonly PartChange[];
  /** Sums all stored days without reading the previous running totals. */
  readonly fromDays?: boolean;
}

/** Writes the running totals of a project from its changed months and the previous running totals. */
export async function writeRunning(
  engine: Engine,
  catalog: Catalog,
  target: Target,
  { table, changes, fromDays = false }: RunningInput,
): Promise<PartChange[]> {
  const { files, schema, project, part } = target;
  using session = await engine.session();
  const months = new Map<string, StoredFile | undefined>(
    changes
      .filter((change) => change.table === schema.name)
      .map((change) => [change.part, change.written ?? undefined] as const),
  );
  const old = fromDays ? [] : await undamaged(files.store, await filesOf(catalog, project, table, EVERY_DAY));
  const stored = await manifestOf(catalog, project, schema.name, EVERY_DAY);
  if (old.length === 0) {
    for (const file of stored) {
      if (!months.has(file.part)) months.set(file.part, file);
    }
  }
  const daily = [...months.values()].filter((file) => file !== undefined);
  if (daily.length + old.length === 0) return [];
  // The statement requires files in both lists; unused ones serve as placeholders.
  using openDaily = await files.store.open(daily.length > 0 ? daily : old);
  using openOld = await files.store.open(old.length > 0 ? old : daily);
  const parameters = {
    daily: openDaily.paths,
    hasDaily: daily.length > 0,
    old: openOld.paths,
    hasOld: old.length > 0,
    months: [...months.keys()].map((month) => `${month}-01`),
  };
  const written = await writeFile(session, target, table, { text: sqlText(`load/rollups/${table}`), parameters });
  if (written !== null && stored.length + months.size > PARTS_WITHOUT_CHECK) {
    await checkRunning(session, target, written);
  }
  return [{ project, table, part, written }];
}

/** The files, or none if one of them is damaged: they can be made again. */
export async function undamaged(store: FactFiles['store'], files: StoredFile[]): Promise<StoredFile[]> {
  try {
    using _opened = await store.open(files);
    return files;
  } catch (error) {
    if (error instanceof DamagedFile) return [];
    throw error;
  }
}

/** Writes the rollup of months again whose file is damaged. Returns the months with it, and the changes. */
export async function remakeLost(
  engine: Engine,
  catalog: Catalog,
  { files, schema, project }: Omit<Target, 'part'>,
  months: readonly MonthOfDays[],
): Promise<{ months: MonthOfDays[]; changes: PartChange[] }> {
  const [table] = schema.rollups;
  const changes: PartChange[] = [];
  const whole: MonthOfDays[] = [];
  for (const month of months) {
    const { part, days } = month;
    if (days === null || (await undamaged(files.store, [days])).length > 0) {
      whole.push(month);
      continue;
    }
    const stored = await manifestOf(catalog, project, schema.name, EVERY_DAY);
    const source = stored.find((file) => file.part === part) ?? null;
    using session = await engine.session();
    const target = { files, schema, project, part };
    const made = await writePartRollups(session, target, source, { tables: [table!] });
    changes.push(...made);
    whole.push({ part, days: made[0]!.written });
  }
  return { months: whole, changes };
}

/** A month and the file with its days, by device or over all devices; null if it has no rows. */
export interface MonthOfDays {
  readonly part: Part;
  readonly days: Omit<WrittenFile, 'rows'> | null;
}

/** Bytes of the files of days and running totals of months that are summed together. */
const SMALL_BYTES = 2_000_000;

/**
 * Groups months by what one statement should sum: planning it takes 15 ms, longer than running it for a small project, and
 * the totals of large months should not be in memory together.
 */
export function cumulativeBatches(months: readonly MonthOfDays[], running: StoredFile | null): MonthOfDays[][] {
  const batches: MonthOfDays[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const month of months) {
    const more = (month.days?.bytes ?? 0) + (running?.bytes ?? 0);
    if (bytes + more > SMALL_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(month);
    bytes += more;
  }
  return batches;
}

interface CumulativeInput {
  readonly table: StoredTable;
  readonly months: readonly MonthOfDays[];
  /** The running totals by month; correct for all months before these. */
  readonly running: StoredFile | null;
}

/** Writes the cumulative totals of months from their days and the running totals before them, one file per month. */
export async function writeCumulative(
  engine: Engine,
  { files, schema, project }: Omit<Target, 'part'>,
  { table, months, running }: CumulativeInput,
): Promise<PartChange[]> {
  const daysOf = (days: MonthOfDays['days']) => (running === null || days === null ? [] : [days]);
  const stored = months.flatMap(({ days }) => daysOf(days));
  using session = await engine.session();
  using opened = await files.store.open([...(running === null ? [] : [running]), ...stored]);
  const [runningPath = '', ...paths] = opened.paths;
  const firstDay = (part: Part) => `${part}-01`;
  const parameters = { running: runningPath, days: paths, months: months.map(({ part }) => firstDay(part)) };
  const rows = sqlTemplate(`load/rollups/${table}_rows`, { block_sums: BLOCK_SUMS, sums: CUMULATIVE_SUMS });
  const together = stored.length > 1;
  if (together) await session.run(`create temp table cumulative as ${rows}`, parameters);
  const text = sqlTemplate(`load/rollups/${table}`, { rows: together ? 'cumulative' : `(${rows})` });
  const changes: PartChange[] = [];
  for (const { part, days } of months) {
    const target = { files, schema, project, part };
    const of = { month: firstDay(part), ...(together ? {} : parameters) };
    const [known] = daysOf(days);
    const written = known ? await writeFile(session, target, table, { text, parameters: of }, { days: known }) : null;
    changes.push({ project, table, part, written });
  }
  return changes;
}

const MEASURES = ['clicks', 'impressions', 'sum_position'];
/** Days are summed in blocks; day 0 is the total before the month. */
const BLOCK_DAYS = 8;

/** `sum(case when day_of_block <= 0 then clicks else 0 end) as clicks_0, ...`: through each day of a block. */
const BLOCK_SUMS = MEASURES.flatMap((measure) =>
  Array.from(
    { length: BLOCK_DAYS },
    (_, day) => `sum(case when day_of_block <= ${day} then ${measure} else 0 end) as ${measure}_${day}`,
  ),
).join(', ');

/** `sum(case when block = 1 then clicks_0 when block < 1 then clicks_7 else 0 end) as clicks_8, ...`: through each day. */
const CUMULATIVE_SUMS = MEASURES.flatMap((measure) =>
  Array.from({ length: 31 }, (_, index) => {
    const day = index + 1;
    const last = Math.floor(day / BLOCK_DAYS);
    const before = last > 0 ? ` when block < ${last} then ${measure}_${BLOCK_DAYS - 1}` : '';
    return `sum(case when block = ${last} then ${measure}_${day % BLOCK_DAYS}${before} else 0 end) as ${measure}_${day}`;
  }),
).join(', ');
