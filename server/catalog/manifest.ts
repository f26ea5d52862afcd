import { type Day, lastDayOf, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/fact-store.ts';
import type { Catalog } from './catalog.ts';

export const FACT_TABLES = [
  'site_daily',
  'keyword_daily',
  'keyword_page_daily',
  'country_daily',
  'country_monthly',
  'appearance_daily',
  'brand_daily',
  'page_daily',
  'query_daily',
] as const;
export type FactTable = (typeof FACT_TABLES)[number];

/** What is added up and stored beside a fact table, so that a range costs what its ends cost and not its length. */
export const ROLLUPS = ['keyword_all', 'keyword_running', 'keyword_cumulative'] as const;
export type StoredTable = FactTable | (typeof ROLLUPS)[number];

/** A month (`2026-03`), or `all` for tables that are kept in one file. */
export type Part = string;

/** The one current Parquet file of a (project, table, part). */
export interface FactFile extends StoredFile {
  readonly part: Part;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

export interface Coverage {
  readonly firstDay: Day;
  /** For monthly tables the last day of the last month. */
  readonly lastDay: Day;
  readonly rows: number;
}

/** The current files that hold a project's rows of a table in a range. */
export function filesOf(catalog: Catalog, project: string, table: StoredTable, range: Range): StoredFile[] {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.all<StoredFile>('fact_files', { project, table, ...span });
}

/** The manifest rows of a project's table between the months of two days. */
export function manifestOf(catalog: Catalog, project: string, table: StoredTable, range: Range): FactFile[] {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.all<FactFile>('fact_manifest', { project, table, ...span });
}

/** The manifest rows from which the totals of keywords until a day are planned (`facts/keyword-plan.ts`). */
export function keywordFilesUntil(
  catalog: Catalog,
  project: string,
  day: Day,
  allDevices: boolean,
): { days: FactFile[]; cumulative: FactFile[]; running: FactFile | undefined } {
  const until = { from: '0000-01', to: monthOf(day) };
  const rowsOf = (table: StoredTable): FactFile[] =>
    catalog.all<FactFile>('fact_manifest', { project, table, ...until });
  return {
    days: rowsOf(allDevices ? 'keyword_all' : 'keyword_daily'),
    cumulative: allDevices ? rowsOf('keyword_cumulative') : [],
    running: rowsOf('keyword_running')[0],
  };
}

/** Whether a load has ever carried a table of a project, also where no row of it is left. */
export function isLoaded(catalog: Catalog, project: string, table: FactTable): boolean {
  return catalog.get('loaded_table', { project, table }) !== undefined;
}

/** First and last stored day of each fact table of a project. */
export function readCoverage(catalog: Catalog, project: string): Partial<Record<FactTable, Coverage>> {
  const rows = catalog.all<Coverage & { table: StoredTable }>('coverage', { project });
  const facts = rows.filter(({ table }) => FACT_TABLES.some((name) => name === table));
  return Object.fromEntries(
    facts.map(({ table, firstDay, lastDay, rows: count }) => [
      table,
      { firstDay, lastDay: table === 'country_monthly' ? lastDayOf(monthOf(lastDay)) : lastDay, rows: count },
    ]),
  );
}
