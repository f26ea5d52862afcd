import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { filesOf, manifestOf } from '../catalog/fact-files.ts';
import { addDays, type Day, earlier, later, type Month, monthOf } from '../domain/dates.ts';
import { EVERY_DAY } from '../domain/range.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { Gathering, NewDays } from '../load/publish-days.ts';
import type { DayFiles } from './day-files.ts';
import type { SyncWindow } from './plan.ts';
import { KEYWORD_TABLES, type SyncTable } from './tables.ts';

export interface GatherInput {
  readonly catalog: Catalog;
  readonly project: string;
  /** Country days up to this day are stored by month. */
  readonly monthsThrough: Day;
  /** Undefined if nothing was fetched. */
  readonly window?: SyncWindow;
  readonly files?: DayFiles;
}

/**
 * A function that gathers the days to replace: changed days of the fetched tables, and country days that become months.
 * @param changed the changed days of each table
 * @param isComplete whether all country days of a month are published
 */
export function gatherDays(
  source: GatherInput,
  changed: ReadonlyMap<SyncTable, readonly Day[]>,
  isComplete: (month: Month) => boolean,
): (gathering: Gathering) => Promise<NewDays[]> {
  return async (gathering) => {
    const found: NewDays[] = [];
    for (const [table, days] of changed) {
      if (table === 'country_daily') continue;
      const files = source.files?.paths(table, days) ?? [];
      const others = KEYWORD_TABLES.includes(table) ? await otherKeywords(source, gathering, table, days) : [];
      found.push({ table, days, kept: others.length === 0 ? [] : days, files: [...files, ...others] });
    }
    return [...found, ...(await countryDays(source, gathering, changed.get('country_daily') ?? [], isComplete))];
  };
}

/** Country days, of which old ones are aggregated to months. */
async function countryDays(
  { catalog, project, monthsThrough, files }: GatherInput,
  { session, folder, open }: Gathering,
  changed: readonly Day[],
  isComplete: (month: Month) => boolean,
): Promise<NewDays[]> {
  const old = await manifestOf(catalog, project, 'country_daily', { ...EVERY_DAY, to: monthsThrough });
  const stored = old.filter(({ firstDay }) => firstDay <= monthsThrough);
  const fetched = [...(files?.days('country_daily').keys() ?? [])].filter((day) => day <= monthsThrough);
  const target = join(folder, 'country_monthly.parquet');
  const { months, days } =
    stored.length + fetched.length === 0
      ? { months: [], days: [] }
      : await writeCountryMonths(session, {
          project,
          stored: await open(stored),
          fetched: files?.paths('country_daily', fetched) ?? [],
          replaced: fetched,
          through: monthsThrough,
          isComplete,
          target,
        });
  if (changed.length + days.length === 0) return [];
  const daily = changed.filter((day) => !months.includes(monthOf(day)));
  const replaced = [...new Set([...changed, ...days])];
  // The rows of days that become months are kept as their sums.
  const kept = days.filter((day) => !fetched.includes(day));
  const found: NewDays[] = [
    { table: 'country_daily', days: replaced, kept, files: files?.paths('country_daily', daily) ?? [] },
  ];
  const firstDays = months.map((month) => `${month}-01`);
  if (months.length > 0) found.push({ table: 'country_monthly', days: firstDays, files: [target] });
  return found;
}

/** A publication replaces whole days, so stored rows of keywords outside the window are copied. */
async function otherKeywords(
  { catalog, project, window }: GatherInput,
  { session, folder, keywords, open }: Gathering,
  table: SyncTable,
  days: readonly Day[],
): Promise<string[]> {
  const ofTable = window?.dayQueries.filter((dayQuery) => dayQuery.table === table) ?? [];
  const requested = new Set(ofTable.flatMap((dayQuery) => dayQuery.keywords.map(({ id }) => id)));
  const others = keywords.filter((id) => !requested.has(id));
  const stored = await filesOf(catalog, project, table, { from: days.reduce(earlier), to: days.reduce(later) });
  if (others.length === 0 || stored.length === 0) return [];
  const target = join(folder, `${table}-kept.parquet`);
  const parameters = { files: await open(stored), project, days, keywords: others, target };
  await session.runFile('sync/kept_keyword_rows', parameters);
  return [target];
}

interface CountryInput {
  readonly project: string;
  /** Files of stored days of country_daily. */
  readonly stored: readonly string[];
  /** Files of fetched days. */
  readonly fetched: readonly string[];
  /** The fetched days. */
  readonly replaced: readonly Day[];
  /** The last day that may be moved to a month. */
  readonly through: Day;
  /** Whether all days of a month are available. */
  readonly isComplete: (month: Month) => boolean;
  /** The output file. */
  readonly target: string;
}

/** Aggregates old days of country_daily to months. Returns the months and their days with rows. */
async function writeCountryMonths(
  session: Session,
  { project, stored, fetched, replaced, through, isComplete, target }: CountryInput,
): Promise<{ months: Month[]; days: Day[] }> {
  await session.runFile('sync/country_rows', {});
  if (stored.length > 0) await session.runFile('sync/country_rows_stored', { files: stored, through, replaced });
  if (fetched.length > 0) await session.runFile('sync/country_rows_fetched', { files: fetched });
  const days = (await session.rowsOfFile<{ day: Day }>('sync/country_days', {})).map(({ day }) => day);
  const months = [...new Set(days.map(monthOf))].filter(isComplete);
  if (months.length === 0) return { months, days: [] };
  const firstDays = months.map((month) => `${month}-01`);
  await session.runFile('sync/country_months', { project, months: firstDays, target });
  return { months, days: days.filter((day) => months.includes(monthOf(day))) };
}

/** The last day of the previous month. */
export function lastCompleteMonthEnd(day: Day): Day {
  return addDays(`${monthOf(day)}-01`, -1);
}
