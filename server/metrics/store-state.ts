import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Catalog, CatalogVersion, OpenCatalog } from '../catalog/catalog.ts';
import { readPendingDeliveries } from '../catalog/deliveries.ts';
import { type FactTotal, readFactTotals } from '../catalog/fact-files.ts';
import { readLastBackup } from '../catalog/store.ts';
import { readListTotals } from '../catalog/stored-lists.ts';
import { listOldestSyncs, readSyncCounts, STALE_AFTER, type SyncCounts } from '../catalog/sync-projects.ts';
import { type JobRow, jobOfSeat, type LoadCounts, listJobRows, readLoadCounts, type Usage } from '../catalog/usage.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';

/** Max projects with their own series: those whose last successful sync is the oldest. */
const PROJECTS_WITH_SERIES = 20;
/** Projects whose files are summed at a time, so that the event loop is never blocked for long. */
const PROJECTS_AT_A_TIME = 20;
/** Sums of files are read again at most this often, in milliseconds: during a sync the catalog always changes. */
const TOTALS_VALID = 30_000;

/** What is stored. Instants of projects are in seconds. */
export interface StoreState {
  /** Seconds. */
  readonly now: number;
  readonly syncs: SyncCounts & { readonly oldest: readonly { readonly project: string; readonly since: number }[] };
  readonly loads: readonly LoadCounts[];
  readonly jobs: readonly JobRow[];
  readonly deliveries: Awaited<ReturnType<typeof readPendingDeliveries>>;
  readonly lists: { readonly lists: number; readonly bytes: number };
  readonly facts: readonly FactTotal[];
  readonly catalogBytes: number;
  readonly lastBackup: Microseconds | null;
}

interface Stores {
  readonly catalog: OpenCatalog;
  readonly usage: Usage;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** Reads what is stored, in short steps. */
export class StoreReader {
  readonly #stores: Stores;
  #totals: { readonly version: CatalogVersion; readonly at: number; readonly facts: readonly FactTotal[] } | undefined;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  async read(): Promise<StoreState> {
    const { catalog, usage, now } = this.#stores;
    const at = now();
    const before = toMicroseconds(at - STALE_AFTER);
    const oldest = await listOldestSyncs(catalog, PROJECTS_WITH_SERIES);
    return {
      now: at / 1000,
      syncs: {
        ...(await readSyncCounts(catalog, { now: toMicroseconds(at), before })),
        oldest: oldest.map(({ project, since }) => ({ project, since: since / 1e6 })),
      },
      loads: await readLoadCounts(usage),
      jobs: byJob(await listJobRows(usage)),
      deliveries: await readPendingDeliveries(catalog, toMicroseconds(at)),
      lists: await readListTotals(catalog),
      facts: await this.#factTotals(),
      catalogBytes: await catalog.size(),
      lastBackup: (await readLastBackup(catalog))?.finishedAt ?? null,
    };
  }

  async #factTotals(): Promise<readonly FactTotal[]> {
    const { catalog } = this.#stores;
    const version = await catalog.version();
    const at = performance.now();
    const known = this.#totals;
    if (known !== undefined && (known.version === version || at - known.at < TOTALS_VALID)) return known.facts;
    const facts = await sumFacts(catalog);
    this.#totals = { version, at, facts };
    return facts;
  }
}

/** The state of each job, with the last start in any process. */
function byJob(rows: readonly JobRow[]): JobRow[] {
  const ofJob = Map.groupBy(rows, ({ job }) => jobOfSeat(job));
  return rows
    .filter(({ job }) => ofJob.has(job))
    .map((row) => ({ ...row, startedAt: Math.max(...ofJob.get(row.job)!.map(({ startedAt }) => startedAt)) }));
}

async function sumFacts(catalog: Catalog): Promise<FactTotal[]> {
  const sums = new Map<string, FactTotal>();
  for (let after: string | undefined = ''; after !== undefined; ) {
    const read = await readFactTotals(catalog, { after, limit: PROJECTS_AT_A_TIME });
    for (const { table, files, rows, bytes } of read.totals) {
      const sum = sums.get(table);
      sums.set(table, {
        table,
        files: files + (sum?.files ?? 0),
        rows: rows + (sum?.rows ?? 0),
        bytes: bytes + (sum?.bytes ?? 0),
      });
    }
    after = read.last;
    await nextTurn();
  }
  return [...sums.values()];
}
