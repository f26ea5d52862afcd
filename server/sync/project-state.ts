import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import {
  announceSyncStatus,
  putSyncProject,
  putSyncState,
  raiseEntityRevisions,
  readSyncProject,
  type SyncState,
} from '../catalog/sync-projects.ts';
import { eachDay, later } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { nextRunAt, type RunOutcome, reasonOf, statusOf } from './outcome.ts';
import type { PlanInput } from './plan.ts';
import { findConnected } from './prepare.ts';
import type { DaysByTable } from './published-days.ts';

/** The state of a project after its newest days are published. */
export function newestState(
  { finalThrough }: Pick<PlanInput, 'finalThrough'>,
  days: DaysByTable,
  { project, now }: { readonly project: Project; readonly now: number },
): Partial<SyncState> {
  const withRows = [...(days.get('site_daily')?.values() ?? [])].filter(({ rows }) => rows > 0);
  return {
    lastSyncedAt: toMicroseconds(now),
    provisionalAfter: finalThrough,
    syncedThrough: withRows.length === 0 ? project.syncedThrough : withRows.map(({ day }) => day).reduce(later),
  };
}

/** Whether days to sync were never published. */
export function isPending({ tables, syncRange }: PlanInput, days: DaysByTable): boolean {
  const all = eachDay(syncRange.from, syncRange.to);
  return tables.some((table) => !all.every((day) => days.get(table)?.has(day)));
}

interface Failure {
  readonly outcome: RunOutcome;
  readonly reason: string | null;
  /** Milliseconds. */
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly hours: number;
}

/** Stores a failed run: status, reason and next run. Published data does not change. */
export async function storeFailure(catalog: Catalog, id: string, failure: Failure): Promise<void> {
  const { outcome, reason } = failure;
  await catalog.transaction(async (tx) => {
    if ((await findConnected(tx, id)) === undefined) return;
    const stored = await readSyncProject(tx, id);
    const failures = stored.failures + 1;
    const next = toMicroseconds(nextRunAt({ ...failure, failures }));
    await putSyncProject(tx, id, { ...stored, failures, lastError: reason, nextRunAt: next });
    const isChanged = await putSyncState(tx, id, { syncStatus: statusOf(outcome) });
    await announceSyncStatus(tx, id, { reason: reasonOf(outcome), at: toMicroseconds(failure.now) });
    await raiseEntityRevisions(tx, isChanged ? [id] : []);
  });
}
