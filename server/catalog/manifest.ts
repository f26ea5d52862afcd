import { type Day, lastDayOf, type Month, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';

export const FACT_TABLES = [
  'site_daily',
  'keyword_daily',
  'country_daily',
  'country_monthly',
  'appearance_daily',
  'brand_daily',
  'page_daily',
  'query_daily',
] as const;
export type FactTable = (typeof FACT_TABLES)[number];

/** The one current Parquet file of a (project, table, month). `file` is relative to the data folder. */
export interface FactFile {
  readonly month: Month;
  readonly file: string;
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

/** The current files (relative to the data folder) that hold a project's rows of a table in a range. */
export function filesOf(catalog: Catalog, project: string, table: FactTable, range: Range): string[] {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.all<{ file: string }>('fact_files', { project, table, ...span }).map((row) => row.file);
}

/** The manifest rows of a project's table between the months of two days. */
export function manifestOf(catalog: Catalog, project: string, table: FactTable, range: Range): FactFile[] {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.all<FactFile>('fact_manifest', { project, table, ...span });
}

/** First and last stored day of each fact table of a project. */
export function readCoverage(catalog: Catalog, project: string): Partial<Record<FactTable, Coverage>> {
  const rows = catalog.all<Coverage & { table: FactTable }>('coverage', { project });
  return Object.fromEntries(
    rows.map(({ table, firstDay, lastDay, rows: count }) => [
      table,
      { firstDay, lastDay: table === 'country_monthly' ? lastDayOf(monthOf(lastDay)) : lastDay, rows: count },
    ]),
  );
}
