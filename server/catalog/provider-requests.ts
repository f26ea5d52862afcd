import type { Day } from '../domain/dates.ts';
import type { Usage } from './usage.ts';

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
  if (!(await usage.run('provider_requests_forget', { at }))) return undefined;
  const taken = await usage.change('provider_request_take', { ...request });
  if (taken === undefined) return undefined;
  if (taken > 0) return at;
  const { owner, perMinute, perSecond } = request;
  const row = await usage.get<{ due: number }>('provider_request_due', { owner, perMinute, perSecond, at });
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
  return (await usage.change('provider_day_take', { owner, day, perDay })) !== 0;
}

/** How many requests are left of a day. */
export async function countRequestsLeft(usage: Usage, { owner, day, perDay }: DayLimit): Promise<number> {
  const sent = await usage.get<{ requests: number }>('provider_day', { owner, day });
  return Math.max(0, perDay - (sent?.requests ?? 0));
}
