import { listDueSitemaps, putSitemaps, type StoredSitemaps } from '../catalog/inspections.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure, toKnownError } from '../providers/failures.ts';
import { jobOfCommand } from '../providers/gateway.ts';
import { GOOGLE_ERRORS } from '../providers/google/failures.ts';
import { type Connected, findConnected } from './prepare.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

/** Milliseconds until sitemaps are read again, after a success and after a failure. */
const READ_EVERY = 86_400_000;
const RETRY_AFTER = 3_600_000;
const BATCH = 100;

interface SitemapCounts {
  readonly read: number;
  readonly failed: number;
}

/**
 * Reads the sitemaps of all projects that are due, one after the other. Each is stored at once, so that a killed run
 * continues after it; a project that fails is tried again after an hour and ends nothing else.
 */
export async function syncSitemaps(
  stores: SyncStores,
  { now, signal }: Pick<SyncOptions, 'now' | 'signal'>,
): Promise<SitemapCounts> {
  const counts = { read: 0, failed: 0 };
  // Projects that become due meanwhile are for the next run, so that this one ends.
  const started = toMicroseconds(now());
  for (;;) {
    const due = await listDueSitemaps(stores.catalog, started, BATCH);
    if (due.length === 0) return counts;
    for (const id of due) {
      signal.throwIfAborted();
      const connected = await findConnected(stores.catalog, id);
      if (connected === undefined) continue;
      const state = await fetchSitemaps(stores, connected, now);
      const wait = state.reason === null ? READ_EVERY : RETRY_AFTER;
      await putSitemaps(stores.catalog, id, connected.project.property, {
        ...state,
        dueAt: toMicroseconds(now() + wait),
      });
      counts[state.reason === null ? 'read' : 'failed'] += 1;
    }
  }
}

/** Throws if the run was stopped; other failures are the reason. */
async function fetchSitemaps(
  { gateway, clientOf }: SyncStores,
  { project, connection }: Connected,
  now: () => number,
): Promise<StoredSitemaps> {
  const { property } = project;
  const job = { ...jobOfCommand(connection.kind, property, 'sitemaps'), demand: () => 'background' as const };
  try {
    const sitemaps = await gateway.run(
      { ...job, line: { project: project.id } },
      (run) => clientOf(connection).sitemaps(property, run),
      (found) => ({ sitemaps: found.length }),
    );
    return { sitemaps, fetchedAt: toMicroseconds(now()), reason: null };
  } catch (error) {
    if (!(error instanceof ProviderFailure) || gateway.stopped.aborted) throw error;
    return { sitemaps: null, fetchedAt: null, reason: (toKnownError(error, GOOGLE_ERRORS) as Error).message };
  }
}
