import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';

/** What a request to the object store does. */
export const STORAGE_REQUESTS = ['get', 'put', 'stat', 'list', 'remove'] as const;
type StorageRequest = (typeof STORAGE_REQUESTS)[number];

/** What a process waits for when it uses PostgreSQL: a connection, the version that each request reads, all other work. */
export const POSTGRES_WAITS = ['connection', 'version', 'work'] as const;
type PostgresWait = (typeof POSTGRES_WAITS)[number];

/** How asking for a lease ended, or that one was lost while it was held. `away`: the store of leases does not answer. */
export const LEASE_OUTCOMES = ['taken', 'elsewhere', 'away', 'lost', 'released'] as const;
type LeaseOutcome = (typeof LEASE_OUTCOMES)[number];

/** What became of a statement; `busy`: it was not run, because others do, `failed`: also if its client has left. */
export const STATEMENT_OUTCOMES = ['complete', 'truncated', 'refused', 'stopped', 'busy', 'failed'] as const;
export type StatementOutcome = (typeof STATEMENT_OUTCOMES)[number];

/** Measurements that modules report for metrics. Values of labels are few and fixed; times are in seconds. */
export interface Measurements {
  /** A request to a provider. `outcome`: `ok` or the kind of the failure. */
  readonly providerRequest: { readonly provider: string; readonly outcome: string; readonly seconds: number };
  /** A fetch of a page or query list. `outcome`: `ok` or the kind of the failure. */
  readonly listFetch: { readonly source: string; readonly outcome: string; readonly seconds: number };
  /** A query to Trino. `outcome`: `ok`, `unavailable` (503), `aborted`, `unreadable` (answered by DuckDB) or `failed`. */
  readonly trinoQuery: { readonly outcome: string; readonly seconds: number };
  /** A request to the object store. `outcome`: `ok` or `away`, also if it refuses. */
  readonly storageRequest: { readonly kind: StorageRequest; readonly outcome: 'ok' | 'away'; readonly seconds: number };
  /** A file that a process began to read: from its disk cache (`hit`), or fetched from the object store (`miss`). */
  readonly storageRead: { readonly outcome: 'hit' | 'miss' };
  /** A wait for PostgreSQL. `outcome`: `away` if it cannot be reached; `ok` also for statements that fail. */
  readonly postgresWait: { readonly kind: PostgresWait; readonly outcome: 'ok' | 'away'; readonly seconds: number };
  readonly lease: { readonly outcome: LeaseOutcome };
  /** An attempt to deliver something over a channel. */
  readonly deliveryAttempt: { readonly outcome: 'sent' | 'retry' | 'failed' | 'gone'; readonly seconds: number };
  /** A statement in SQL, waits included. `outcome`: one of `STATEMENT_OUTCOMES`. */
  readonly statement: { readonly outcome: StatementOutcome; readonly seconds: number };
  readonly jobRun: { readonly job: string; readonly outcome: string; readonly seconds: number };
  readonly syncRun: { readonly outcome: string; readonly seconds: number };
  readonly alertEvaluation: {
    readonly outcome: string;
    readonly seconds: number;
    readonly opened: number;
    readonly resolved: number;
  };
}

const PREFIX = 'ordinate.';

/** Reports a measurement of this process. Without listeners, `value` is not called. */
export function measure<Name extends keyof Measurements>(name: Name, value: () => Measurements[Name]): void {
  const to = channel(PREFIX + name);
  if (to.hasSubscribers) to.publish(value());
}

/** Calls `take` with each measurement of this process from now on. Returns a function that unsubscribes. */
export function onMeasured<Name extends keyof Measurements>(
  name: Name,
  take: (value: Measurements[Name]) => void,
): () => void {
  const listener = (value: unknown): void => take(value as Measurements[Name]);
  subscribe(PREFIX + name, listener);
  return () => void unsubscribe(PREFIX + name, listener);
}

/** Seconds since `started`, an instant of `performance.now()`. */
export function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
