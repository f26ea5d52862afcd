import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Values } from './catalog.ts';

/**
 * Usage data, shared by all processes. Data that is written with each request is stored here, because a commit to the
 * catalog invalidates the caches of all processes. The data is expendable: failed writes are dropped. Statements are those
 * of `sql/usage/`. Used only by the repositories in this folder.
 */
export interface Usage {
  /** First row of a query; undefined if there is none or the database is unavailable. */
  get<Row>(name: string, values?: Values): Promise<Row | undefined>;
  /** All rows of a query; none if the database is unavailable. */
  all<Row>(name: string, values?: Values): Promise<Row[]>;
  /** Runs a statement; false if the write failed. */
  run(name: string, values?: Values): Promise<boolean>;
  /** Like `run`; returns the number of changed rows, or undefined if the write failed. */
  change(name: string, values?: Values): Promise<number | undefined>;
  close(): Promise<void>;
}

/**
 * The name of the lease and the stored state of the nth process that runs a job at the same time as others. The state of
 * the first one is that of the job.
 */
export function seatName(job: string, seat: number): string {
  return seat === 1 ? job : `${job}.${seat}`;
}

/** The job of a seat. */
export function jobOfSeat(seat: string): string {
  return seat.split('.', 1)[0]!;
}

/** The stored state of a background job. */
export interface JobRow<Outcome extends string = string> {
  /** See `seatName`. */
  readonly job: string;
  readonly startedAt: Microseconds;
  readonly endedAt: Microseconds | null;
  readonly outcome: Outcome | null;
  readonly failures: number;
  readonly error: string | null;
  /** JSON. */
  readonly result: string | null;
  readonly progress: string | null;
  readonly nextAt: Microseconds;
}

export function listJobRows<Outcome extends string>(usage: Usage): Promise<JobRow<Outcome>[]> {
  return usage.all<JobRow<Outcome>>('jobs.runs');
}

export async function putJobRow(usage: Usage, row: JobRow): Promise<void> {
  await usage.run('jobs.put_run', { ...row });
}

/** Stores the progress of a run. Without effect if it has ended or another has begun, so writes may be reordered. */
export async function putJobProgress(usage: Usage, row: Pick<JobRow, 'job' | 'startedAt' | 'progress'>): Promise<void> {
  await usage.run('jobs.put_progress', { ...row });
}

/** The source of a load: a snapshot folder, an import, or the sync. */
export type LoadKind = (typeof LOAD_KINDS)[number];

export const LOAD_KINDS = ['snapshot', 'import', 'sync'] as const;

/** Counts of loads of a kind, all processes. */
export interface LoadCounts {
  readonly kind: LoadKind;
  /** Numbers of loads. */
  readonly published: number;
  readonly rejected: number;
  readonly failed: number;
  /** Sums over published loads. */
  readonly rows: number;
  readonly seconds: number;
  /** The last published load; null if there was none. */
  readonly lastAt: Microseconds | null;
  readonly lastRows: number | null;
  readonly lastSeconds: number | null;
}

export function readLoadCounts(usage: Usage): Promise<LoadCounts[]> {
  return usage.all<LoadCounts>('loads.counts');
}

export async function countPublishedLoad(
  usage: Usage,
  load: { readonly kind: LoadKind; readonly at: Microseconds; readonly rows: number; readonly seconds: number },
): Promise<void> {
  await usage.run('loads.count_published', { ...load });
}

export async function countOtherLoad(usage: Usage, kind: LoadKind, how: 'rejected' | 'failed'): Promise<void> {
  await usage.run('loads.count_other', {
    kind,
    rejected: Number(how === 'rejected'),
    failed: Number(how === 'failed'),
  });
}

export interface ProviderRequest {
  /** The provider and property. */
  readonly owner: string;
  /** Milliseconds. */
  readonly at: number;
  /** Maximum requests in any 60 seconds, in total. */
  readonly perMinute: number;
  /** Maximum requests in any second, of the owner. */
  readonly perSecond: number;
}

/**
 * Records a request to a provider at the instant `at`, if the limits over all processes allow it. Returns the instant
 * (milliseconds) when they do: `at` if it was recorded. Undefined if the database is unavailable. PostgreSQL counts by its
 * own clock, because those of machines differ.
 */
export async function takeProviderRequest(usage: Usage, request: ProviderRequest): Promise<number | undefined> {
  const { at } = request;
  if (!(await usage.run('provider-requests.forget', { at }))) return undefined;
  const taken = await usage.change('provider-requests.take', { ...request });
  if (taken === undefined) return undefined;
  if (taken > 0) return at;
  const { owner, perMinute, perSecond } = request;
  const row = await usage.get<{ due: number }>('provider-requests.due', { owner, perMinute, perSecond, at });
  return row?.due;
}

/** A limit of requests of an owner on a day. */
export interface DayLimit {
  readonly owner: string;
  readonly day: Day;
  readonly perDay: number;
}

/**
 * Counts a request to a provider on a day, over all processes; false if all were sent. True if the database is
 * unavailable.
 */
export async function takeRequestOfDay(usage: Usage, { owner, day, perDay }: DayLimit): Promise<boolean> {
  return (await usage.change('provider-requests.take_of_day', { owner, day, perDay })) !== 0;
}

/** How many requests are left of a day. */
export async function countRequestsLeft(usage: Usage, { owner, day, perDay }: DayLimit): Promise<number> {
  const sent = await usage.get<{ requests: number }>('provider-requests.sent_on_day', { owner, day });
  return Math.max(0, perDay - (sent?.requests ?? 0));
}
