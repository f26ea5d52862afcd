import type { Identity } from './google-auth.ts';
import { toFailure } from './google-failures.ts';
import { type ProviderRun, sendCounted, withRetries } from './retries.ts';

/**
 * The most bytes of one answer of Google's, once decompressed: a full answer of 25,000 rows with long addresses has some
 * ten million. It is counted while it comes, and a longer one is given up.
 */
export const MAX_ANSWER_BYTES = 32_000_000;

/**
 * One request to Google with an identity, repeated as its failures allow. A token that expired before its time is
 * replaced once; when the new one is refused too, access is lost.
 * @param names what the request is about; messages of failures repeat it, and it means nothing there
 */
export function requestAs<T>(
  identity: Identity,
  run: ProviderRun,
  names: readonly string[],
  request: () => Promise<T>,
): Promise<T> {
  return withRetries(
    run,
    (error) => toFailure(error, identity.secrets(), names),
    () =>
      request().catch((error: unknown) => {
        const { status, code } = error as { status?: unknown; code?: unknown };
        if (status !== 401 && code !== 401) throw error;
        identity.expire();
        return sendCounted(run, request);
      }),
  );
}
