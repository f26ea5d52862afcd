import type { BrandTerm } from '../domain/brand-terms.ts';
import type { Day } from '../domain/dates.ts';
import type { HourStart } from '../domain/hours.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { announceSync, type SyncNews } from './deliveries.ts';
import { raiseRevisions } from './fact-files.ts';
import { findAnyProject, type Project } from './projects.ts';

/** The sync state of a project. */
export interface SyncProject {
  /** The days to sync in the last run; null before the first run. */
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  /** Earlier days are not kept, and not fetched; null for none. */
  readonly keptFrom: Day | null;
  /** Parameters of the stored facts. */
  readonly brandTerms: readonly BrandTerm[];
  readonly country: string | null;
  readonly lastRunAt: Microseconds | null;
  readonly lastSuccessAt: Microseconds | null;
  /** Error of the last run, for the operator; null after success. */
  readonly lastError: string | null;
  /** Consecutive failed runs. */
  readonly failures: number;
  /** Null for immediately. */
  readonly nextRunAt: Microseconds | null;
}

export const NEVER_SYNCED: SyncProject = {
  firstDay: null,
  lastDay: null,
  keptFrom: null,
  brandTerms: [],
  country: null,
  lastRunAt: null,
  lastSuccessAt: null,
  lastError: null,
  failures: 0,
  nextRunAt: null,
};

type Row = Omit<SyncProject, 'brandTerms'> & { readonly brandTerms: string | null };

export async function readSyncProject(catalog: Catalog, project: string): Promise<SyncProject> {
  const row = await catalog.statements.get<Row>('sync-projects.one', { project });
  return row === undefined
    ? NEVER_SYNCED
    : { ...row, brandTerms: row.brandTerms === null ? [] : (JSON.parse(row.brandTerms) as BrandTerm[]) };
}

export async function putSyncProject(catalog: Catalog, project: string, sync: SyncProject): Promise<void> {
  await catalog.statements.run('sync-projects.put', { project, ...sync, brandTerms: JSON.stringify(sync.brandTerms) });
}

/** Makes a project due at once, also days that were fetched before. Requires a transaction. */
export async function putSyncRequest(tx: Catalog, project: string, at: Microseconds): Promise<void> {
  await tx.statements.run('sync-projects.request', { project, at });
}

/** When somebody last asked for a sync of a project; null for never. */
export async function readSyncRequest(catalog: Catalog, project: string): Promise<Microseconds | null> {
  const row = await catalog.statements.get<{ requestedAt: Microseconds | null }>('sync-projects.requested', {
    project,
  });
  return row?.requestedAt ?? null;
}

/** When final days of a project were last compared with the provider; null for never. */
export async function readReconciledAt(catalog: Catalog, project: string): Promise<Microseconds | null> {
  const row = await catalog.statements.get<{ reconciledAt: Microseconds | null }>('sync-projects.reconciled', {
    project,
  });
  return row?.reconciledAt ?? null;
}

/** `readReconciledAt` of all projects of a workspace, without null. */
export async function readReconciledOfWorkspace(
  catalog: Catalog,
  workspace: string,
): Promise<ReadonlyMap<string, Microseconds>> {
  const rows = await catalog.statements.all<{ project: string; reconciledAt: Microseconds }>(
    'sync-projects.reconciled_of_workspace',
    { workspace },
  );
  return new Map(rows.map(({ project, reconciledAt }) => [project, reconciledAt]));
}

/** Stores when final days were compared, and invalidates reports. Requires a transaction. */
export async function putReconciledAt(tx: Catalog, project: string, at: Microseconds): Promise<void> {
  await tx.statements.run('sync-projects.set_reconciled', { project, at });
  await raiseEntityRevisions(tx, [project]);
}

/** The start of the first hour that may still change; null before hours were fetched. */
export async function readHoursUntil(catalog: Catalog, project: string): Promise<HourStart | null> {
  const until = (await catalog.statements.get<{ until: Microseconds | null }>('sync-projects.hours', { project }))
    ?.until;
  return until === undefined || until === null ? null : until / 1000;
}

/** Stores the start of the first hour that may still change. Returns whether it is news. */
export async function putHoursUntil(tx: Catalog, project: string, until: Microseconds): Promise<boolean> {
  return (await tx.statements.run('sync-projects.set_hours', { project, until })) > 0;
}

/** Ids of connected projects, oldest first. */
export async function listConnectedProjects(catalog: Catalog): Promise<string[]> {
  return ids(await catalog.statements.all<{ id: string }>('sync-projects.connected'));
}

/** Ids of connected projects whose next run is due: those that have never run first, then by waiting time. */
export async function listDueProjects(catalog: Catalog, now: Microseconds, limit: number): Promise<string[]> {
  return ids(await catalog.statements.all<{ id: string }>('sync-projects.due', { now, limit }));
}

/** Whether a connected project is due now; another process may just have run it. */
export async function isDueProject(catalog: Catalog, project: string, now: Microseconds): Promise<boolean> {
  return (await catalog.statements.get('sync-projects.is_due', { project, now })) !== undefined;
}

/** Ids of connected projects whose sync was requested since their last run began, by the time of the request. */
export async function listRequestedProjects(catalog: Catalog, limit: number): Promise<string[]> {
  return ids(await catalog.statements.all<{ id: string }>('sync-projects.asked', { limit }));
}

/** Time without a successful run after which a project has a warning and counts as stale, in milliseconds. */
export const STALE_AFTER = 36 * 3_600_000;

/** Ids of connected projects with status `ok` whose last successful run was before an instant. */
export async function listStaleProjects(catalog: Catalog, before: Microseconds): Promise<string[]> {
  return ids(await catalog.statements.all<{ id: string }>('sync-projects.stale', { before }));
}

/**
 * Connected projects whose last successful sync is the oldest, oldest first. `since` is that sync, or without one when
 * the project was created.
 */
export function listOldestSyncs(
  catalog: Catalog,
  limit: number,
): Promise<{ readonly project: string; readonly since: Microseconds }[]> {
  return catalog.statements.all('sync-projects.oldest', { limit });
}

/** Numbers of connected projects. */
export interface SyncCounts {
  readonly byStatus: Readonly<Record<Project['syncStatus'], number>>;
  /** Without a successful sync since an instant. */
  readonly stale: number;
  /** The last sync failed. */
  readonly failing: number;
  readonly due: number;
}

/** @param options `before`: the last success of stale projects */
export async function readSyncCounts(
  catalog: Catalog,
  options: { readonly now: Microseconds; readonly before: Microseconds },
): Promise<SyncCounts> {
  type Row = Omit<SyncCounts, 'byStatus'> & { readonly status: Project['syncStatus']; readonly projects: number };
  const rows = await catalog.statements.all<Row>('sync-projects.counts', options);
  const sum = (of: 'stale' | 'failing' | 'due'): number => rows.reduce((all, row) => all + row[of], 0);
  const byStatus = { pending: 0, ok: 0, warning: 0, failed: 0 };
  for (const { status, projects } of rows) byStatus[status] = projects;
  return { byStatus, stale: sum('stale'), failing: sum('failing'), due: sum('due') };
}

/** The sync state of a project in responses. */
export type SyncState = Pick<
  Project,
  'syncStatus' | 'lastSyncedAt' | 'syncedThrough' | 'provisionalAfter' | 'historyBackfilling'
>;

/**
 * Stores the sync state of a project. Returns whether cached reports may change; they do not contain `lastSyncedAt`.
 */
export async function putSyncState(catalog: Catalog, id: string, changes: Partial<SyncState>): Promise<boolean> {
  const before = await findAnyProject(catalog, id);
  if (before === undefined) return false;
  const { syncStatus, lastSyncedAt, syncedThrough, provisionalAfter, historyBackfilling } = { ...before, ...changes };
  const state = { syncStatus, syncedThrough, provisionalAfter };
  await catalog.statements.run('sync-projects.set_state', {
    id,
    ...state,
    lastSyncedAt,
    historyBackfilling: Number(historyBackfilling),
  });
  return (
    historyBackfilling !== before.historyBackfilling ||
    syncStatus !== before.syncStatus ||
    syncedThrough !== before.syncedThrough ||
    provisionalAfter !== before.provisionalAfter
  );
}

/**
 * Tells channels that the sync of a project has begun to fail, or works again; nothing while that is known. To be called
 * at the end of a run, in the transaction that stores its status.
 */
export async function announceSyncStatus(
  tx: Catalog,
  id: string,
  { at, ...why }: Pick<SyncNews, 'reason' | 'provider'> & { at: Microseconds },
): Promise<void> {
  const project = await findAnyProject(tx, id);
  if (project === undefined || project.syncStatus === 'pending') return;
  const { syncStatus: status } = project;
  const changed = await tx.statements.run('sync-projects.set_failing', {
    project: id,
    failing: Number(status !== 'ok'),
  });
  if (changed > 0) await announceSync(tx, project, { status, ...(status === 'ok' ? { reason: null } : why), at });
}

/** Invalidates cached reports of projects whose row changed. */
export async function raiseEntityRevisions(tx: Catalog, projects: readonly string[]): Promise<void> {
  const none = new Set<string>();
  await raiseRevisions(tx, { facts: none, keywords: none, workspaces: none, projects: new Set(projects) });
}

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
