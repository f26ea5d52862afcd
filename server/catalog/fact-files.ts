import { type Day, lastDayOf, monthOf } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import { FACT_TABLES, type FactTable, ROLLUPS, type StoredTable } from '../model/tables.ts';
import { DamagedFile } from '../storage/checked-files.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { Catalog } from './catalog.ts';

/** Whether a fact file is current, or was retired at or after an instant. */
export async function isFactFileKept(catalog: Catalog, file: string, before: Microseconds): Promise<boolean> {
  return (await catalog.statements.get('fact-files.is_kept', { file, before })) !== undefined;
}

/** A current fact file, small if there are many. */
export function findSmallFactFile(catalog: Catalog): Promise<StoredFile | undefined> {
  return catalog.statements.get<StoredFile>('fact-files.smallest');
}

/** A file named in the catalog. */
export interface NamedFile extends StoredFile {
  /** The only copy of its data. Lists can be fetched again, and replaced files only serve earlier requests. */
  readonly isNeeded: boolean;
}

/** The files of facts and lists, and replaced ones that may still be read. */
export async function listNamedFiles(catalog: Catalog): Promise<NamedFile[]> {
  const rows = await catalog.statements.all<StoredFile & { isNeeded: number }>('fact-files.named');
  return rows.map(({ isNeeded, ...file }) => ({ ...file, isNeeded: isNeeded === 1 }));
}

/** Fact files that are current, or retired but not removed yet. */
export async function listKnownFactFiles(catalog: Catalog): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.known');
  return rows.map(({ file }) => file);
}

/** Fact files that were retired before an instant and are not current. */
export async function listRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.retired_due', { before });
  return rows.map(({ file }) => file);
}

/** Deletes the records of fact files retired before an instant, after their removal. */
export async function forgetRetiredFactFiles(catalog: Catalog, before: Microseconds): Promise<void> {
  await catalog.statements.run('fact-files.forget_retired', { before });
}

/** The current fact files of a table. */
export interface FactTotal {
  readonly table: string;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Sums over the current fact files of some projects, in the order of their ids.
 * @param options `after`: the last project of the previous call, or ''; `limit`: how many projects
 * @returns `last`: the last project, undefined if none was left
 */
export async function readFactTotals(
  catalog: Catalog,
  options: { readonly after: string; readonly limit: number },
): Promise<{ totals: FactTotal[]; last: string | undefined }> {
  type Row = Omit<FactTotal, 'table'> & { readonly table: string | null; readonly last: string };
  const rows = await catalog.statements.all<Row>('fact-files.totals', options);
  const totals = rows.flatMap(({ table, files, rows, bytes }) =>
    table === null ? [] : [{ table, files, rows, bytes }],
  );
  return { totals, last: rows[0]?.last };
}

/** Current fact files of publications after a revision. */
export async function listFactFilesSince(catalog: Catalog, revision: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.since', { revision });
  return rows.map(({ file }) => file);
}

/** Some current fact files, newest first. */
export async function listNewestFactFiles(catalog: Catalog, limit: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ file: string }>('fact-files.newest', { limit });
  return rows.map(({ file }) => file);
}

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

/** Replaces the whole manifest. Requires a transaction. */
export async function replaceManifest(tx: Catalog, manifest: readonly ManifestRow[]): Promise<void> {
  await tx.statements.run('fact-files.clear');
  for (const row of manifest) await putFactFile(tx, row);
  await tx.statements.run('fact-files.keep_retired');
}

/** Marks all projects as changed, and lets those who follow the files begin anew. Requires a transaction. */
export async function beginRevisionsAnew(tx: Catalog): Promise<void> {
  await tx.statements.run('fact-files.clear_removed');
  await raiseAllRevisions(tx);
}

/** A current file of a project. */
export interface ProjectFile extends FactFile {
  readonly table: FactTable;
}

/** Changes of a project's files. */
export interface FileChanges {
  /** The revision since which they changed; null if unknown: then these are all files. */
  readonly since: number | null;
  readonly files: readonly ProjectFile[];
  /** Parts that had a file and have none now. A file replaces the one of its part, which is not listed here. */
  readonly removed: readonly { readonly table: FactTable; readonly part: Part }[];
}

/** A file that may still be read: the current one of its part, or one that was replaced within the last hour. */
export interface ReadableFile extends StoredFile {
  /** No day of the file is before this one. */
  readonly firstDay: Day;
  readonly isCurrent: boolean;
}

/** The fact files of a project, without rollups; with `since` those that became current after that revision. */
export async function filesOfProject(
  catalog: Catalog,
  project: { readonly id: string; readonly factsRevision: number },
  since: number | null,
): Promise<FileChanges> {
  const { id, factsRevision } = project;
  const begun = (await catalog.statements.get<{ since: number }>('revisions.files_since', { project: id }))?.since ?? 0;
  // Other revisions are of an earlier project with this id, or of a lost catalog.
  const isKnown = since !== null && begun > 0 && since >= begun && since <= factsRevision;
  const of = { project: id, revision: isKnown ? since : -1 };
  const files = await catalog.statements.all<FactFile & { table: StoredTable }>('fact-files.after_revision', of);
  const removed = isKnown
    ? await catalog.statements.all<{ table: StoredTable; part: Part }>('fact-files.removed_after', of)
    : [];
  return { since: isKnown ? since : null, files: files.filter(isOfFacts), removed: removed.filter(isOfFacts) };
}

/** A file of a project by its name in the store; undefined where the project has no such file. */
export async function findFileOfProject(
  catalog: Catalog,
  project: string,
  file: string,
): Promise<ReadableFile | undefined> {
  type Row = StoredFile & { firstDay: Day | null; isCurrent: number };
  const row = await catalog.statements.get<Row>('fact-files.by_name', { project, file });
  return row && { ...row, firstDay: row.firstDay ?? startOfFile(row.file), isCurrent: row.isCurrent === 1 };
}

/** The first day of the month of a replaced file; before all days for other parts. */
function startOfFile(file: string): Day {
  const [, month] = /\/(\d{4}-\d{2})-[^/]*$/.exec(file) ?? [];
  return month === undefined ? EVERY_DAY.from : `${month}-01`;
}

/** Whether a table has rows of keywords, of which clients may not read days before the plan's history. */
export function isOfKeywords(table: FactTable): boolean {
  return table === 'keyword_daily' || table === 'keyword_page_daily';
}

function isOfFacts<Row extends { readonly table: StoredTable }>(row: Row): row is Row & { readonly table: FactTable } {
  return FACT_TABLES.some((name) => name === row.table);
}

/** Projects and workspaces whose cached reports a change invalidates. */
export interface Changed {
  /** Projects whose fact files changed. */
  readonly facts: ReadonlySet<string>;
  /** Projects that changed, or their keywords, groups or page groups. */
  readonly projects: ReadonlySet<string>;
  /** Projects whose keywords changed. */
  readonly keywords: ReadonlySet<string>;
  /** Workspaces whose keyword history changed. */
  readonly workspaces: ReadonlySet<string>;
}

/** Projects, and workspaces, that something is edited in or loaded for. */
export interface Owners {
  readonly projects: ReadonlySet<string>;
  readonly workspaces: ReadonlySet<string>;
}

/** Counts an edit of entities that loads check, in its transaction. */
export async function countEdit(tx: Catalog, { projects, workspaces }: Owners): Promise<void> {
  for (const id of projects) await tx.statements.send('revisions.count_edit', { owner: 'project', id });
  for (const id of workspaces) await tx.statements.send('revisions.count_edit', { owner: 'workspace', id });
}

/** A text that changes with each edit of what belongs to these projects and workspaces. */
export async function editToken(catalog: Catalog, { projects, workspaces }: Owners): Promise<string> {
  const all = await catalog.statements.all<{ owner: 'project' | 'workspace'; id: string; count: number }>(
    'revisions.edits',
  );
  const of = all.filter(({ owner, id }) => (owner === 'project' ? projects : workspaces).has(id));
  return of
    .map(({ owner, id, count }) => `${owner} ${id} ${count}`)
    .sort()
    .join();
}

/** The last revision of any project. */
export async function lastRevision(catalog: Catalog): Promise<number> {
  return (await catalog.statements.get<{ value: number }>('revisions.last'))!.value;
}

/** Increments the revisions of changed projects. Requires the transaction of the change. */
export async function raiseRevisions(tx: Catalog, { facts, projects, keywords, workspaces }: Changed): Promise<void> {
  if (facts.size + projects.size + workspaces.size === 0) return;
  const { statements } = tx;
  for (const id of keywords) await statements.send('revisions.count_keywords', { id });
  // Others wait for this row until the commit, so nothing that follows is waited for.
  await statements.send('revisions.next');
  for (const id of projects) await statements.send('revisions.change_entities', { id });
  for (const id of workspaces) await statements.send('revisions.change_entities_of_workspace', { id });
  for (const id of facts) {
    await statements.send('revisions.change_facts', { id });
    await statements.send('revisions.change_files', { id });
    await statements.send('revisions.change_removed_parts', { id });
  }
}

/**
 * Invalidates cached reports of the projects that have reported a day after one. Requires the transaction of the change.
 * @param options `after`: null for all projects
 */
export async function raiseRevisionsOfReported(tx: Catalog, { after }: { readonly after: Day | null }): Promise<void> {
  if ((await tx.statements.get('revisions.any_reported', { after })) === undefined) return;
  await tx.statements.send('revisions.next');
  await tx.statements.send('revisions.change_entities_of_reported', { after });
}

/** Marks all projects as changed, with a revision above any of a lost catalog. */
export async function raiseAllRevisions(tx: Catalog): Promise<void> {
  // Seconds since 1970 exceed any number of loads.
  const least = Math.floor(Date.now() / 1000);
  const { value: revision } = (await tx.statements.get<{ value: number }>('revisions.set', { least }))!;
  await tx.statements.run('revisions.raise_projects', { revision });
  await tx.statements.run('revisions.raise_files', { revision });
}

/** A journaled change of the catalog. */
export interface Publication {
  readonly number: number;
  readonly id: string;
}

/** How far a catalog has come. */
export interface Progress extends Publication {
  /** Transactions that have changed it. */
  readonly changes: number;
}

/** The last publication in the catalog, and how often it has changed. */
export async function lastPublication(catalog: Catalog): Promise<Progress> {
  return (await catalog.statements.get<Progress>('revisions.publication'))!;
}

/** Starts the next publication. */
export async function nextPublication(tx: Catalog): Promise<Publication> {
  return (await tx.statements.get<Publication>('revisions.next_publication', { id: newUuid() }))!;
}

/** Lets a catalog have at least as many changes as what is beside its facts, in a folder that it was put into. */
export async function raiseChanges(tx: Catalog, least: number): Promise<void> {
  await tx.statements.run('revisions.raise_changes', { least });
}

/** Sets the last publication of a rebuilt catalog. */
export async function setPublication(tx: Catalog, { number, id }: Publication): Promise<void> {
  await tx.statements.run('revisions.set_publication', { number, id });
}

/** The projects whose rollups are lost, according to an error, its cause or its parts. The rollups can be made again. */
export function lostRollups(error: unknown): Set<string> {
  const projects = new Set<string>();
  const look = (found: unknown): void => {
    if (!(found instanceof Error)) return;
    const rollup = found instanceof DamagedFile ? rollupOf(found.file) : undefined;
    if (rollup !== undefined) projects.add(rollup.project);
    look(found.cause);
    if (found instanceof AggregateError) for (const one of found.errors) look(one);
  };
  look(error);
  return projects;
}
