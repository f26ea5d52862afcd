import { join } from 'node:path';
import { evaluateProject } from '../alerts/evaluate.ts';
import { KEYWORD_LOOK_BACK } from '../alerts/keyword-checks.ts';
import { listAllProjects } from '../catalog/projects.ts';
import { listWorkspaces } from '../catalog/workspaces.ts';
import { addDays, type Day } from '../domain/dates.ts';
import { keptFrom } from '../domain/retention.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { findOldFacts, type OldFacts, pruneProject } from '../load/prune.ts';
import { loadFolders, type Stores } from '../load/stores.ts';
import { withFacts } from '../query/with-facts.ts';
import { ProcessFolder } from '../runtime/process-folder.ts';

export interface RetentionOptions {
  /** Only the projects of this workspace. */
  readonly workspace?: string;
  /** Drops nothing. */
  readonly dryRun?: boolean;
  readonly report?: (step: string) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds, as `Date.now`. */
  readonly now?: () => number;
}

/** A project with facts older than its retention. */
export interface PrunedProject {
  readonly workspace: string;
  readonly project: string;
  /** The first day that is kept. */
  readonly keptFrom: Day;
  readonly tables: readonly OldFacts[];
}

/** The projects that do not keep all facts, with the first day that each keeps. */
async function limitedProjects(
  { settings, catalog }: Stores,
  { workspace, now = Date.now }: RetentionOptions,
): Promise<Pick<PrunedProject, 'workspace' | 'project' | 'keptFrom'>[]> {
  const found: Pick<PrunedProject, 'workspace' | 'project' | 'keptFrom'>[] = [];
  for (const { id, keepDays } of await listWorkspaces(catalog)) {
    if (workspace !== undefined && id !== workspace) continue;
    const first = keptFrom(keepDays, settings.keepDays, now());
    if (first === null) continue;
    for (const project of await listAllProjects(catalog, id)) {
      found.push({ workspace: id, project: project.id, keptFrom: first });
    }
  }
  return found;
}

/**
 * Drops the facts that are older than each workspace keeps, whole months at a time, in one publication for each project.
 * Alerts are evaluated before, and settled as far as later evaluations would lack facts. Returns what was dropped, or
 * would be. If it is stopped, projects are either done or untouched.
 */
export async function applyRetention(stores: Stores, options: RetentionOptions = {}): Promise<PrunedProject[]> {
  const { dryRun = false, report = () => {}, signal } = options;
  const { settings } = stores;
  const limited = await limitedProjects(stores, options);
  const pruned: PrunedProject[] = [];
  if (limited.length === 0) return pruned;
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await ProcessFolder.take(join(settings.dataFolder, 'temporary')), (it) => it.remove());
  let opening: Promise<Engine> | undefined;
  opened.defer(async () => (await opening?.catch(() => undefined))?.close());
  const { memoryLimit, threads } = settings;
  const temporaryFolder = join(folder.path, 'memory');
  const open = (): Promise<Engine> =>
    Engine.open({ memoryLimit, threads, temporaryFolder, folders: loadFolders(settings) });
  const engine = (): Promise<Engine> => (opening ??= open());
  const waiting = { onWait: () => report('waiting for a load to end'), ...(signal && { signal }) };
  for (const [index, project] of limited.entries()) {
    signal?.throwIfAborted();
    report(`looking at project ${index + 1} of ${limited.length}`);
    const tables = await findOldFacts({ ...stores, engine }, project.project, project.keptFrom);
    if (tables.length === 0) continue;
    if (!dryRun) {
      report(`dropping old facts of project ${project.project}`);
      await settleAlerts(stores, project, options);
      await pruneProject({ ...stores, engine }, project.project, project.keptFrom, waiting);
    }
    pruned.push({ ...project, tables });
  }
  return pruned;
}

/** Later evaluations must not need dropped facts, so days that look back at them are settled, too. */
async function settleAlerts(
  { settings, catalog }: Stores,
  { project, keptFrom: first }: Pick<PrunedProject, 'project' | 'keptFrom'>,
  { now = Date.now, signal = new AbortController().signal }: RetentionOptions,
): Promise<void> {
  const settleThrough = addDays(first, KEYWORD_LOOK_BACK - 1);
  await withFacts({ settings, catalog }, (facts) =>
    evaluateProject({ catalog, facts }, project, { settleThrough, now, signal }),
  );
}
