import { setTimeout as sleep } from 'node:timers/promises';
import pRetry from 'p-retry';
import { measure, secondsSince } from '../runtime/measurements.ts';
import { ProviderFailure } from './failures.ts';

/** A run of requests to a provider: its counters and limits. */
export interface ProviderRun {
  /** The kind of the connection. */
  readonly provider: string;
  requests: number;
  retries: number;
  /** Instant (milliseconds, `performance.now`) after which there are no retries. */
  readonly retryUntil: number;
  /** First pause before a retry, in milliseconds; doubled each time. */
  readonly firstPause: number;
  /** Called when a request takes longer than `slowAfter`, in milliseconds. */
  readonly onSlow: (() => void) | undefined;
  readonly slowAfter: number;
  readonly signal: AbortSignal;
  /** Resolves when the rate limits allow a request. Rejects when `signal` is aborted. */
  readonly admit: () => Promise<void>;
}

const MAX_RETRIES = 4;

/**
 * Sends one request of a run: waits for the rate limits and counts it.
 * @param toFailure classifies an error of the request
 */
export async function sendCounted<T>(
  run: ProviderRun,
  toFailure: (error: unknown) => ProviderFailure,
  request: () => Promise<T>,
): Promise<T> {
  await run.admit();
  // Stores that are slow to answer may admit what was stopped meanwhile.
  run.signal.throwIfAborted();
  run.requests += 1;
  const { provider } = run;
  const started = performance.now();
  const slow = run.onSlow && setTimeout(run.onSlow, run.slowAfter);
  const ended = (outcome: () => string): void =>
    measure('providerRequest', () => ({ provider, outcome: outcome(), seconds: secondsSince(started) }));
  try {
    const result = await request();
    ended(() => 'ok');
    return result;
  } catch (error) {
    ended(() => (run.signal.aborted ? 'aborted' : toFailure(error).kind));
    throw error;
  } finally {
    clearTimeout(slow);
  }
}

/**
 * Sends a request to a provider, with exponential back-off and jitter for transient failures. Respects `Retry-After`; if it
 * exceeds the remaining time, the failure is final.
 * @param toFailure classifies an error of the request
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
        return await sendCounted(run, toFailure, request);
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
