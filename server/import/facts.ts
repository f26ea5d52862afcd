import { join } from 'node:path';
import { type BrandTerm, textsOf, wordPattern } from '../domain/brand-terms.ts';
import type { Day } from '../domain/dates.ts';
import type { Parameters, Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { packed } from '../load/tables.ts';
import type { FactTable } from '../model/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { isOfSite, isPeriod, type PlannedTable, type Target } from './plan.ts';

interface Source {
  readonly planned: PlannedTable;
  readonly target: Target;
}

/** The imported days of each fact table. */
export type WrittenDays = Readonly<Partial<Record<FactTable, readonly Day[]>>>;

export interface FactsInput {
  readonly folder: string;
  readonly project: string;
  /** NDJSON of the tracked keywords; undefined if there are none. */
  readonly keywords: string | undefined;
  /** In lower case. */
  readonly brandTerms: readonly BrandTerm[];
  readonly kept: KeptDays;
}

/** Stored days that an import keeps. */
export interface KeptDays {
  /** Days that the sync has fetched, by table. */
  readonly synced: ReadonlyMap<string, readonly Day[]>;
  /** Days with known devices, by table, and with a known brand split: days without must not replace them. */
  readonly byDevice: ReadonlyMap<FactTable, readonly Day[]>;
  readonly bySegment: readonly Day[];
}

/** Rejects rows that two files have, because they would count twice. */
export async function refuseOverlaps(session: Session, plan: readonly PlannedTable[]): Promise<void> {
  const kindOf = ({ table, period }: PlannedTable): string =>
    JSON.stringify([table.type, table.dimensions, table.dimensions.includes('date') ? null : period]);
  for (const same of Map.groupBy(
    plan.filter(({ targets }) => targets.length > 0),
    kindOf,
  ).values()) {
    if (same.length < 2) continue;
    const { dimensions } = same[0]!.table;
    const text = sqlTemplate('import/overlap', { keys: dimensions.join(', '), pack: packed(dimensions) });
    const files = same.map(({ table }) => table.staged);
    const [found] = await session.rows<{ row: string; files: number }>(text, { files });
    if (found === undefined) continue;
    const names = same.map(({ table }) => `'${table.file.name}'`).join(', ');
    throw new ImportRefused(`${found.row} is in ${found.files} of the files ${names}; import each row once.`);
  }
}

/** Writes the fact tables of a snapshot from staged tables. Returns the days that they replace, and whether there are no rows. */
export async function writeFacts(
  session: Session,
  plan: readonly PlannedTable[],
  { folder, project, keywords, brandTerms, kept }: FactsInput,
): Promise<{ days: WrittenDays; isEmpty: boolean }> {
  const sources = plan.flatMap((planned) => planned.targets.map((target) => ({ planned, target })));
  const days: Partial<Record<FactTable, readonly Day[]>> = {};
  let isEmpty = true;
  for (const [table, of] of Map.groupBy(sources, ({ target }) => target.table)) {
    const usable = of.filter(({ target }) => target.isTracked !== true || keywords !== undefined);
    const [first] = usable;
    if (first === undefined) continue;
    const isList = isPeriod(first.target);
    const target = join(folder, `${table}.parquet`);
    const parameters: Record<string, Parameters[string]> = { project, target };
    const selects = usable.map((source, index) => selectOf(source, index, parameters, { keywords, brandTerms }));
    const conditions: string[] = [];
    if (!isList) {
      parameters['synced'] = kept.synced.get(table) ?? [];
      conditions.push('not list_contains($synced::date[], date)');
    }
    if (isOfSite(first.target)) {
      parameters['by_device'] = kept.byDevice.get(table) ?? [];
      conditions.push("(device <> 'unknown' or not list_contains($by_device::date[], date))");
    }
    if (table === 'brand_daily') {
      parameters['known'] = [
        ...(kept.byDevice.get('site_daily') ?? []),
        ...kept.bySegment,
        ...(kept.synced.get('site_daily') ?? []),
      ];
      conditions.push("(segment <> 'unknown' or not list_contains($known::date[], date))");
    }
    const text = sqlTemplate('import/facts', {
      selects: selects.join(' union all by name '),
      day: isList ? 'first_day, last_day' : 'date',
      condition: conditions.join(' and ') || 'true',
    });
    await session.run(text, parameters);
    // A day without a row stays as it is: it is unknown, not empty.
    if (!isList)
      days[table] = (await session.rowsOfFile<{ day: Day }>('import/all_days', { file: target })).map(({ day }) => day);
    isEmpty &&= days[table]?.length === 0;
  }
  return { days, isEmpty };
}

/** The rows of one source, with separate parameters for its values. */
function selectOf(
  { planned: { table, period }, target }: Source,
  index: number,
  parameters: Record<string, Parameters[string]>,
  { keywords, brandTerms }: Pick<FactsInput, 'keywords' | 'brandTerms'>,
): string {
  const { keys, priority, isTracked, isBranded } = target;
  parameters[`file_${index}`] = table.staged;
  let day: Record<string, string> = { date: 'r.date' };
  if (isPeriod(target)) {
    day = { first_day: `$first_${index}::date`, last_day: `$last_${index}::date` };
    parameters[`first_${index}`] = period!.from;
    parameters[`last_${index}`] = period!.to;
  }
  if (isBranded) {
    parameters['terms'] = textsOf(brandTerms);
    parameters['words'] = wordPattern(brandTerms);
  }
  let join = '';
  if (isTracked) {
    parameters['keywords'] = keywords!;
    join = ` join read_json($keywords, format = 'newline_delimited', columns = {id: 'VARCHAR', query: 'VARCHAR'}) k on lower(k.query) = lower(r.query)`;
  }
  const columns = Object.entries({ ...day, ...keys }).map(([name, value]) => `${value} as ${name}`);
  return `select ${priority} as priority, ${columns.join(', ')}, r.clicks, r.impressions, r.sum_position from read_parquet($file_${index}) r${join}`;
}
