import { type ProviderRun, sendCounted, withRetries } from '../retries.ts';
import type { Identity } from './auth.ts';
import { toFailure } from './failures.ts';

/**
 * Maximum bytes of a decompressed response. A full page of 25,000 rows with long URLs has about ten million. Longer responses
 * are aborted.
 */
export const MAX_RESPONSE_BYTES = 32_000_000;

/**
 * Sends a request to Google with an identity, with retries. A token that expires early is replaced once; if the new one is
 * rejected, access is lost.
 * @param names names in the request, which are ignored in error messages
 */
export function requestAs<T>(
  identity: Identity,
  run: ProviderRun,
  names: readonly string[],
  request: () => Promise<T>,
): Promise<T> {
  const classify = (error: unknown) => toFailure(error, identity.secrets(), names);
  return withRetries(run, classify, () =>
    request().catch((error: unknown) => {
      const { status, code } = error as { status?: unknown; code?: unknown };
      if (status !== 401 && code !== 401) throw error;
      identity.expire();
      return sendCounted(run, classify, request);
    }),
  );
}
