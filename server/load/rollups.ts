import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, manifestOf, type StoredTable } from '../catalog/manifest.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { Engine, Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate, sqlText } from '../runtime/sql.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { checkRunning, type PartChange, type Target, type WrittenFile, writeFile } from './new-files.ts';
import { PARTS_WITHOUT_CHECK } from './staged-parts.ts';

/** Writes the rollups of one part from its file; none if it has no rows. */
export async function writePartRollups(
  session: Session,
  target: Target,
  of: WrittenFile | null,
  tables: readonly StoredTable[] = target.schema.rollups,
): Promise<PartChange[]> {
  const { project, part } = target;
  const changes: PartChange[] = [];
  for (const table of tables) {
    const statement = { text: sqlText(`load/rollups/${table}`), parameters: {} };
    const written = of && (await writeFile(session, target, table, statement, { of }));
    changes.push({ project, table, part, written });
  }
  return changes;
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
  const old = fromDays ? [] : await filesOf(catalog, project, table, EVERY_DAY);
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

/** The file with the days of one month. */
export type MonthOfDays = Omit<WrittenFile, 'rows'>;

interface CumulativeInput {
  readonly table: StoredTable;
  /** The month's file of days, by device or over all devices; null if it has no rows. */
  readonly days: MonthOfDays | null;
  /** The running totals by month; correct for all months before this one. */
  readonly running: StoredFile | null;
}

/** Writes the cumulative totals of one month from its days and the running totals before it. */
export async function writeCumulative(
  engine: Engine,
  target: Target,
  { table, days, running }: CumulativeInput,
): Promise<PartChange> {
  const { files, project, part } = target;
  if (days === null || running === null) return { project, table, part, written: null };
  using session = await engine.session();
  const text = sqlTemplate(`load/rollups/${table}`, { block_sums: BLOCK_SUMS, sums: CUMULATIVE_SUMS });
  using opened = await files.store.open([running, days]);
  const parameters = { running: opened.paths[0]!, month: `${part}-01` };
  return { project, table, part, written: await writeFile(session, target, table, { text, parameters }, { of: days }) };
}

const MEASURES = ['clicks', 'impressions', 'sum_position'];
/** Days are summed in blocks; day 0 is the total before the month. */
const BLOCK_DAYS = 8;

/** `sum(case when place <= 0 then clicks else 0 end) as clicks_0, ...`: through each day of a block. */
const BLOCK_SUMS = MEASURES.flatMap((measure) =>
  Array.from(
    { length: BLOCK_DAYS },
    (_, place) => `sum(case when place <= ${place} then ${measure} else 0 end) as ${measure}_${place}`,
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
