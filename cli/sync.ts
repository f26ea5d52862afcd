import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { serializeError } from '../server/api/plugins/log.ts';
import { openLeases } from '../server/catalog/open-leases.ts';
import { readSyncProject } from '../server/catalog/sync-projects.ts';
import { toMicroseconds } from '../server/domain/instants.ts';
import type { SyncOptions, SyncResult, SyncStores } from '../server/sync/run-options.ts';
import { withStores } from './cli.ts';

const LEASE_PAUSE = 250;

/** Runs `work` with the stores of a sync; its log goes to standard error. */
export function withSyncStores<T>(work: (stores: SyncStores) => Promise<T>): Promise<T> {
  return withStores(async ({ settings, catalog }) => {
    const write = (line: string): void => void process.stderr.write(line);
    const log = pino({ level: settings.logLevel, serializers: { err: serializeError } }, { write });
    // DuckDB and Google's packages take longer to load than most commands to run.
    const { withSync } = await import('../server/sync/with-sync.ts');
    const { signal } = new AbortController();
    return withSync({ settings, catalog, log, now: Date.now, signal }, work);
  });
}

/**
 * Syncs a project now. If another process is syncing it, waits for it, then syncs the rest; undefined if nothing is
 * left.
 */
export async function runProject(
  stores: SyncStores,
  project: string,
  options: Partial<SyncOptions> = {},
): Promise<SyncResult | undefined> {
  const { syncProject } = await import('../server/sync/run.ts');
  const { leaseOf } = await import('../server/sync/due.ts');
  const leases = openLeases(stores.settings);
  const asked = toMicroseconds(Date.now());
  for (let waited = false; ; waited = true) {
    const lease = await leases.acquire(leaseOf(project));
    if (lease === undefined) {
      options.onWait?.('waiting for another process that syncs it');
      await sleep(LEASE_PAUSE);
      continue;
    }
    try {
      const { lastRunAt, lastError, nextRunAt } = await readSyncProject(stores.catalog, project);
      const isDone = lastRunAt !== null && lastRunAt >= asked && lastError === null && (nextRunAt ?? 0) > asked;
      if (waited && isDone) return undefined;
      const { signal } = new AbortController();
      return await syncProject(stores, project, { now: Date.now, random: Math.random, signal, ...options });
    } finally {
      await lease.release();
    }
  }
}
