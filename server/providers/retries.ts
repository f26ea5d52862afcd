import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { ProviderFailure } from './failures.ts';

/** One run of requests to a provider: what it has cost so far, and what it may still do. */
export interface ProviderRun {
  requests: number;
  retries: number;
  /** Instant (milliseconds, `performance.now`) after which nothing is tried again. */
  readonly retryUntil: number;
  /** First pause before a request is repeated, in milliseconds; each next one is twice as long. */
  readonly firstPause: number;
  readonly signal: AbortSignal;
  /** Resolves when the limits on requests let one more pass. Rejects when `signal` is aborted. */
  readonly admit: () => Promise<void>;
}

const MAX_RETRIES = 4;

/** Sends one request of a run: it waits for the limits on requests, and is counted. */
export async function sendCounted<T>(run: ProviderRun, request: () => Promise<T>): Promise<T> {
  await run.admit();
  run.requests += 1;
  return request();
}

/**
 * Runs one request to a provider, again after growing pauses with jitter while its failure is a passing one. What the
 * provider asks for in `Retry-After` is kept; where that is longer than there is time, the failure is final.
 * @param toFailure what an error of the request means
 */
export function withRetries<T>(
  run: ProviderRun,
  toFailure: (error: unknown) => ProviderFailure,
  request: () => Promise<T>,
): Promise<T> {
  const timeLeft = (): number => run.retryUntil - performance.now();
  return pRetry(
    async () => {
      try {
        return await sendCounted(run, request);
      } catch (error) {
        run.signal.throwIfAborted();
        throw toFailure(error);
      }
    },
    {
      retries: MAX_RETRIES,
      minTimeout: run.firstPause,
      randomize: true,
      maxRetryTime: Math.max(0, timeLeft()),
      signal: run.signal,
      shouldRetry: async ({ error }) => {
        if (!(error instanceof ProviderFailure) || !error.passing) return false;
        const { retryAfter = 0 } = error;
        if (retryAfter > timeLeft()) return false;
        run.retries += 1;
        if (retryAfter > 0) await sleep(retryAfter, undefined, { signal: run.signal });
        return true;
      },
    },
  );
}
