import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { ProviderFailure } from './failures.ts';

/** What a fetch has cost so far; and how long it may still try again. */
export interface Attempts {
  requests: number;
  retries: number;
  /** Instant (milliseconds, `performance.now`) after which nothing is tried again. */
  readonly retryUntil: number;
  /** First pause before a request is repeated, in milliseconds; each next one is twice as long. */
  readonly pause: number;
  readonly signal: AbortSignal;
}

const MOST_RETRIES = 4;

/**
 * Runs one request to a provider, again after growing pauses with jitter while its failure is a passing one. What the
 * provider asks for in `Retry-After` is kept; where that is longer than there is time, the failure is final.
 * @param toFailure what an error of the request means
 */
export function withRetries<T>(
  attempts: Attempts,
  toFailure: (error: unknown) => ProviderFailure,
  request: () => Promise<T>,
): Promise<T> {
  const timeLeft = (): number => attempts.retryUntil - performance.now();
  return pRetry(
    async () => {
      attempts.requests += 1;
      try {
        return await request();
      } catch (error) {
        attempts.signal.throwIfAborted();
        throw toFailure(error);
      }
    },
    {
      retries: MOST_RETRIES,
      minTimeout: attempts.pause,
      randomize: true,
      maxRetryTime: Math.max(0, timeLeft()),
      signal: attempts.signal,
      shouldRetry: async ({ error }) => {
        if (!(error instanceof ProviderFailure) || !error.passing) return false;
        const { retryAfter = 0 } = error;
        if (retryAfter > timeLeft()) return false;
        attempts.retries += 1;
        if (retryAfter > 0) await sleep(retryAfter, undefined, { signal: attempts.signal });
        return true;
      },
    },
  );
}
