import type { UsageDatabase } from './usage.ts';

interface ProviderRequest {
  /** What the request is about: a provider and a property. */
  readonly owner: string;
  /** Milliseconds. */
  readonly at: number;
  /** The most in any 60 seconds, in all. */
  readonly perMinute: number;
  /** The most in any second, of the owner. */
  readonly perSecond: number;
}

/**
 * Notes a request to a provider at the instant `at`, unless as many as the limits allow were noted, by whichever
 * process. Returns the instant (milliseconds) when the limits allow it: not after `at` where it was noted. Undefined
 * where the database does not answer.
 */
export async function takeProviderRequest(usage: UsageDatabase, request: ProviderRequest): Promise<number | undefined> {
  const { at } = request;
  if (!(await usage.run('provider_requests_forget', { at }))) return undefined;
  const taken = await usage.change('provider_request_take', { ...request });
  if (taken === undefined) return undefined;
  if (taken > 0) return at;
  const { owner, perMinute, perSecond } = request;
  const row = await usage.get<{ due: number }>('provider_request_due', { owner, perMinute, perSecond });
  return row && Math.max(row.due, at + 1);
}
