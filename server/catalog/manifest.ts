import { type Day, lastDayOf, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { FACT_TABLES, type FactTable, ROLLUPS, type StoredTable } from '../model/tables.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Catalog } from './catalog.ts';
import { raiseAllRevisions } from './revisions.ts';

/** The table and project of a file of a rollup; undefined for other files. */
export function rollupOf(file: string): { readonly table: StoredTable; readonly project: string } | undefined {
  const [, name, project] = file.split('/');
  const table = ROLLUPS.find((rollup) => rollup === name);
  return table === undefined || project === undefined ? undefined : { table, project };
}

/** A month (`2026-03`), or `all` for tables in one file. */
export type Part = string;

/** The current Parquet file of a project, table and part. */
export interface FactFile extends StoredFile {
  readonly part: Part;
  readonly rows: number;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

export interface Coverage {
  readonly firstDay: Day;
  /** For monthly tables: the last day of the last month. */
  readonly lastDay: Day;
  readonly rows: number;
}

/** A complete row of the manifest. */
export interface ManifestRow extends FactFile {
  readonly project: string;
  readonly table: StoredTable;
}

/** A fact table of a project that has been loaded, possibly without rows. */
export interface LoadedTable {
  readonly project: string;
  readonly table: FactTable;
}

/** The current files with a project's rows of a table in a range. */
export async function filesOf(
  catalog: Catalog,
  project: string,
  table: StoredTable,
  range: Range,
): Promise<StoredFile[]> {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.statements.all<StoredFile>('fact-files.of_table', { project, table, ...span });
}

/** The manifest rows of a table of all projects of a workspace, by project. */
export async function manifestOfWorkspace(
  catalog: Catalog,
  workspace: string,
  table: StoredTable,
): Promise<Map<string, FactFile[]>> {
  const byProject = new Map<string, FactFile[]>();
  const batches = catalog.statements.each<FactFile & { project: string }>('fact-files.of_workspace', {
    workspace,
    table,
  });
  for await (const rows of batches) {
    for (const { project, ...file } of rows) {
      const known = byProject.get(project);
      if (known === undefined) byProject.set(project, [file]);
      else known.push(file);
    }
  }
  return byProject;
}

/** The manifest rows of a project's table between the months of two days. */
export async function manifestOf(
  catalog: Catalog,
  project: string,
  table: StoredTable,
  range: Range,
): Promise<FactFile[]> {
  const span = { from: monthOf(range.from), to: monthOf(range.to) };
  return catalog.statements.all<FactFile>('fact-files.manifest', { project, table, ...span });
}

/** The manifest rows from which the totals of keywords until a day are planned (`facts/keywords.ts`). */
export async function keywordFilesUntil(
  catalog: Catalog,
  project: string,
  day: Day,
  allDevices: boolean,
): Promise<{ days: FactFile[]; cumulative: FactFile[]; running: FactFile | undefined }> {
  const until = { from: '0000-01', to: monthOf(day) };
  const rowsOf = (table: StoredTable): Promise<FactFile[]> =>
    catalog.statements.all<FactFile>('fact-files.manifest', { project, table, ...until });
  // Concurrently, to wait only once.
  const [days, cumulative, [running]] = await Promise.all([
    rowsOf(allDevices ? 'keyword_all' : 'keyword_daily'),
    allDevices ? rowsOf('keyword_cumulative') : [],
    rowsOf('keyword_running'),
  ]);
  return { days, cumulative, running };
}

/** Whether a table of a project has ever been loaded, even if no rows are left. */
export async function isLoaded(catalog: Catalog, project: string, table: FactTable): Promise<boolean> {
  return (await catalog.statements.get('fact-files.is_loaded', { project, table })) !== undefined;
}

/** What is stored of each fact table of a project; nothing of those without days. */
export type Covered = Readonly<Partial<Record<FactTable, Coverage>>>;

/** First and last stored day of each fact table of a project. */
export async function readCoverage(catalog: Catalog, project: string): Promise<Covered> {
  const rows = await catalog.statements.all<Coverage & { table: StoredTable }>('fact-files.coverage', { project });
  const facts = rows.filter(({ table }) => FACT_TABLES.some((name) => name === table));
  return Object.fromEntries(
    facts.map(({ table, firstDay, lastDay, rows: count }) => [
      table,
      { firstDay, lastDay: table === 'country_monthly' ? lastDayOf(monthOf(lastDay)) : lastDay, rows: count },
    ]),
  );
}

export async function listManifest(catalog: Catalog): Promise<ManifestRow[]> {
  return catalog.statements.all('fact-files.all');
}

/** Makes a file current for its project, table and part. The previous file is retired. */
export async function putFactFile(tx: Catalog, row: ManifestRow): Promise<void> {
  const { project, table, part, file, rows, firstDay, lastDay, bytes, sha256 } = row;
  const values = { project, table, part, file, rows, firstDay, lastDay, bytes, sha256 };
  await tx.statements.send('fact-files.put', values);
}

/** Removes the current file of a project, table and part. The file is retired. */
export async function removeFactFile(
  tx: Catalog,
  { project, table, part }: Pick<ManifestRow, 'project' | 'table' | 'part'>,
): Promise<void> {
  await tx.statements.send('fact-files.add_removed', { project, table, part });
  await tx.statements.send('fact-files.remove', { project, table, part });
}

/** All loaded fact tables. */
export async function listLoadedTables(catalog: Catalog): Promise<LoadedTable[]> {
  return catalog.statements.all('fact-files.loaded_tables');
}

export async function addLoadedTable(
  tx: Catalog,
  { project, table }: { readonly project: string; readonly table: StoredTable },
): Promise<void> {
  await tx.statements.send('fact-files.add_loaded', { project, table });
}

/** Replaces the whole manifest and marks all projects as changed. Requires a transaction. */
export async function replaceManifest(tx: Catalog, manifest: readonly ManifestRow[]): Promise<void> {
  await tx.statements.run('fact-files.clear');
  await tx.statements.run('fact-files.clear_removed');
  for (const row of manifest) {
    await putFactFile(tx, row);
    // Journals of older versions do not list loaded tables.
    await addLoadedTable(tx, row);
  }
  await tx.statements.run('fact-files.keep_retired');
  await raiseAllRevisions(tx);
}
