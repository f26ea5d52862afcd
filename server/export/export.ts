import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { filesOfProject, type ProjectFile } from '../catalog/fact-files.ts';
import { findAnyProject, listAllProjects, type Project } from '../catalog/projects.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { type Day, lastDayOf, monthOf } from '../domain/dates.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { EXPORT_MANIFEST, type ExportManifest, UNFINISHED_EXPORT } from '../load/export-manifest.ts';
import { FACTS } from '../load/fact-tables.ts';
import type { Stores } from '../load/stores.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';
import type { Settings } from '../settings/settings.ts';
import { LocalFiles } from '../storage/local-files.ts';
import { storageFolders } from '../storage/open-file-store.ts';
import { exportEntities } from './entities.ts';
import { exportFacts } from './facts.ts';
import type { ExportFormat } from './formats.ts';

export interface ExportOptions {
  /** Exactly one of `project` and `workspace`. */
  readonly project?: string;
  readonly workspace?: string;
  /** A folder that is empty or does not exist. */
  readonly folder: string;
  readonly format?: ExportFormat;
  /** The first and last day of facts; all by default. */
  readonly from?: Day;
  readonly to?: Day;
  /** Milliseconds, as `Date.now`. */
  readonly now?: number;
  readonly report?: (step: string) => void;
}

export interface ExportSummary {
  readonly folder: string;
  readonly workspace: string;
  readonly projects: readonly string[];
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly files: number;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/** The export cannot be done as requested; the message explains why. */
class ExportRefused extends Error {}

/**
 * Writes a consistent snapshot of a project or workspace, for `load`. The manifest, with the hash of each file, is
 * written last, so that an interrupted export never looks complete.
 */
export async function exportSnapshot(stores: Stores, options: ExportOptions): Promise<ExportSummary> {
  const { settings, catalog } = stores;
  const folder = prepareFolder(options.folder, settings.dataFolder);
  const { from, to } = options;
  if (from !== undefined && to !== undefined && from > to) {
    throw new ExportRefused(`--from (${from}) must not be after --to (${to}).`);
  }
  const { project, format = 'parquet', now = Date.now(), report = () => {} } = options;
  const target = new LocalFiles(folder);
  await using opened = new AsyncDisposableStack();
  const engine = await openEngine(settings, folder, opened);
  using session = await engine.session();
  const state = await catalog.snapshot(async (snapshot) => {
    const { workspace, projects } = await scopeOf(snapshot, options);
    await begin(folder);
    report('writing projects');
    const scope = { workspace, projects: projects.map(({ id }) => id), isWorkspace: project === undefined };
    const entities = await exportEntities(session, snapshot, target, scope, format);
    return { workspace, projects, entities, facts: await factsOf(snapshot, projects) };
  });
  // The snapshot has ended: files that a load replaces meanwhile stay for an hour.
  const range = { from: from ?? EVERY_DAY.from, to: to ?? EVERY_DAY.to };
  const store = opened.use(await openJoinedStore(settings, catalog));
  const folders = { store, target };
  const files = [...state.entities];
  for (const { project: id, stored } of state.facts) {
    report(`writing ${stored.table} of ${id}`);
    const schema = FACTS.find(({ name }) => name === stored.table)!;
    const file = await exportFacts(session, folders, { schema, project: id, stored, range, format });
    if (file !== null) files.push(file);
  }
  const manifest: ExportManifest = {
    ordinateExport: 1,
    exportedAt: new Date(now).toISOString(),
    workspace: state.workspace,
    projects: state.projects.map(({ id, factsRevision: revision }) => ({ id, revision })),
    from: from ?? null,
    to: to ?? null,
    files,
  };
  await finish(target, manifest);
  return summarise(folder, manifest, monthWarnings(state.facts, range));
}

/** An engine that reads facts and writes into a folder; `opened` closes it. */
async function openEngine(settings: Settings, folder: string, opened: AsyncDisposableStack): Promise<Engine> {
  const { dataFolder, memoryLimit, threads } = settings;
  const temporary = await ProcessFolder.take(join(dataFolder, 'temporary'));
  opened.defer(() => temporary.remove());
  const folders = [folder, ...storageFolders(settings)];
  const engine = await Engine.open({ memoryLimit, threads, temporaryFolder: temporary.path, folders });
  return opened.adopt(engine, (it) => it.close());
}

async function factsOf(catalog: Catalog, projects: readonly Project[]): Promise<StoredFact[]> {
  const facts: StoredFact[] = [];
  for (const project of projects) {
    const { files } = await filesOfProject(catalog, project, null);
    facts.push(...files.map((stored) => ({ project: project.id, stored })));
  }
  return facts;
}

interface StoredFact {
  readonly project: string;
  readonly stored: ProjectFile;
}

/** The folder of the export: absolute, and empty if it exists. */
function prepareFolder(name: string, dataFolder: string): string {
  const folder = resolve(name);
  if (!relative(resolve(dataFolder), folder).startsWith('..')) {
    throw new ExportRefused(`'${name}' is in the data folder; export to another one.`);
  }
  if (!existsSync(folder)) return folder;
  if (!statSync(folder).isDirectory()) throw new ExportRefused(`'${name}' is not a folder.`);
  const found = readdirSync(folder);
  if (found.includes(UNFINISHED_EXPORT)) {
    throw new ExportRefused(`'${name}' has an export that did not finish; remove it, or choose another folder.`);
  }
  if (found.length > 0) throw new ExportRefused(`'${name}' is not empty; choose an empty or new folder.`);
  return folder;
}

async function scopeOf(
  catalog: Catalog,
  { project, workspace }: ExportOptions,
): Promise<{ workspace: string; projects: Project[] }> {
  if (project !== undefined && workspace === undefined) {
    const found = await findAnyProject(catalog, project);
    if (found === undefined) throw new ExportRefused(`There is no project '${project}'.`);
    return { workspace: found.workspaceId, projects: [found] };
  }
  if (workspace === undefined || project !== undefined) {
    throw new ExportRefused('Name what to export: either --project or --workspace.');
  }
  if ((await findWorkspace(catalog, workspace)) === undefined) {
    throw new ExportRefused(`There is no workspace '${workspace}'.`);
  }
  return { workspace, projects: await listAllProjects(catalog, workspace) };
}

/** Marks the folder as unfinished until the export is complete. */
async function begin(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, UNFINISHED_EXPORT), '', { flag: 'wx', mode: 0o600 });
}

/** Warns that months in the range only in part are not exported. */
function monthWarnings(facts: readonly StoredFact[], { from, to }: Range): string[] {
  const cut = [
    ...(from.endsWith('-01') ? [] : [monthOf(from)]),
    ...(to === lastDayOf(monthOf(to)) ? [] : [monthOf(to)]),
  ];
  const isCut = facts.some(
    ({ stored: { table, firstDay, lastDay } }) =>
      table === 'country_monthly' && cut.some((month) => monthOf(firstDay) <= month && month <= monthOf(lastDay)),
  );
  return isCut ? ['country_monthly: months that are only partly between --from and --to are left out.'] : [];
}

/** Writes the manifest, which makes the export complete. */
async function finish(target: LocalFiles, manifest: ExportManifest): Promise<void> {
  await target.syncFolders();
  await writeFile(target.path(UNFINISHED_EXPORT), `${JSON.stringify(manifest, null, 2)}\n`);
  await target.seal(UNFINISHED_EXPORT);
  await target.rename(UNFINISHED_EXPORT, EXPORT_MANIFEST);
}

function summarise(
  folder: string,
  { workspace, projects, files }: ExportManifest,
  warnings: readonly string[],
): ExportSummary {
  const tables: Record<string, number> = {};
  for (const { table, rows } of files) tables[table] = (tables[table] ?? 0) + rows;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { folder, workspace, projects: projects.map(({ id }) => id), tables, files: files.length, bytes, warnings };
}
