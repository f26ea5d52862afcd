import { type Day, lastDayOf, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Catalog } from './catalog.ts';
import { raiseAllRevisions } from './revisions.ts';

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

/** A row of the manifest as loads, the journal and `verify` have it. */
export interface ManifestRow extends FactFile {
  readonly project: string;
  readonly table: StoredTable;
}

/** A fact table of a project that a load has carried, also without any row. */
export interface LoadedTable {
  readonly project: string;
  readonly table: FactTable;
}

/** The current files that hold a project's rows of a table in a range. */
export async function filesOf(
  catalog: Catalog,
  project: string,
  table: StoredTable,
  range: Range,
): Promise<StoredFile[]> {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.statements.all<StoredFile>('fact_files', { project, table, ...span });
}

/** The manifest rows of a project's table between the months of two days. */
export async function manifestOf(
  catalog: Catalog,
  project: string,
  table: StoredTable,
  range: Range,
): Promise<FactFile[]> {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.statements.all<FactFile>('fact_manifest', { project, table, ...span });
}

/** The manifest rows from which the totals of keywords until a day are planned (`facts/keyword-plan.ts`). */
export async function keywordFilesUntil(
  catalog: Catalog,
  project: string,
  day: Day,
  allDevices: boolean,
): Promise<{ days: FactFile[]; cumulative: FactFile[]; running: FactFile | undefined }> {
  const until = { from: '0000-01', to: monthOf(day) };
  const rowsOf = (table: StoredTable): Promise<FactFile[]> =>
    catalog.statements.all<FactFile>('fact_manifest', { project, table, ...until });
  return {
    days: await rowsOf(allDevices ? 'keyword_all' : 'keyword_daily'),
    cumulative: allDevices ? await rowsOf('keyword_cumulative') : [],
    running: (await rowsOf('keyword_running'))[0],
  };
}

/** Whether a load has ever carried a table of a project, also where no row of it is left. */
export async function isLoaded(catalog: Catalog, project: string, table: FactTable): Promise<boolean> {
  return (await catalog.statements.get('loaded_table', { project, table })) !== undefined;
}

/** First and last stored day of each fact table of a project. */
export async function readCoverage(catalog: Catalog, project: string): Promise<Partial<Record<FactTable, Coverage>>> {
  const rows = await catalog.statements.all<Coverage & { table: StoredTable }>('coverage', { project });
  const facts = rows.filter(({ table }) => FACT_TABLES.some((name) => name === table));
  return Object.fromEntries(
    facts.map(({ table, firstDay, lastDay, rows: count }) => [
      table,
      { firstDay, lastDay: table === 'country_monthly' ? lastDayOf(monthOf(lastDay)) : lastDay, rows: count },
    ]),
  );
}

/** The whole manifest. */
export async function listManifest(catalog: Catalog): Promise<ManifestRow[]> {
  return catalog.statements.all('manifest_all');
}

/** Makes a file the current one of its place. The one before is retired. */
export async function putFactFile(own: Catalog, row: ManifestRow): Promise<void> {
  const { project, table, part, file, rows, firstDay, lastDay, bytes, sha256 } = row;
  const values = { project, table, part, file, rows, firstDay, lastDay, bytes, sha256 };
  await own.statements.run('fact_file_upsert', values);
}

/** Leaves a place without a file. The one before is retired. */
export async function removeFactFile(
  own: Catalog,
  { project, table, part }: Pick<ManifestRow, 'project' | 'table' | 'part'>,
): Promise<void> {
  await own.statements.run('removed_part_add', { project, table, part });
  await own.statements.run('fact_file_delete', { project, table, part });
}

/** All fact tables that loads have carried. */
export async function listLoadedTables(catalog: Catalog): Promise<LoadedTable[]> {
  return catalog.statements.all('loaded_tables');
}

/** Notes that a load has carried a table. */
export async function addLoadedTable(
  own: Catalog,
  { project, table }: { readonly project: string; readonly table: StoredTable },
): Promise<void> {
  await own.statements.run('loaded_table_add', { project, table });
}

/** Puts a whole manifest in place of the one that is there, and marks all projects as changed. Run it in a transaction. */
export async function replaceManifest(own: Catalog, manifest: readonly ManifestRow[]): Promise<void> {
  await own.statements.run('manifest_clear');
  await own.statements.run('removed_parts_clear');
  for (const row of manifest) {
    await putFactFile(own, row);
    // A journal of an older version does not say which tables were loaded.
    await addLoadedTable(own, row);
  }
  await own.statements.run('retired_keep');
  await raiseAllRevisions(own);
}
