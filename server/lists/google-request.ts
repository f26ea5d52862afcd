import type { Identity } from './google-auth.ts';
import { toFailure } from './google-failures.ts';
import { type Attempts, withRetries } from './retries.ts';

/**
 * One request to Google with an identity, repeated as its failures allow. A token that expired before its time is
 * replaced once; when the new one is refused too, access is lost.
 */
export function requestAs<T>(identity: Identity, attempts: Attempts, request: () => Promise<T>): Promise<T> {
  return withRetries(
    attempts,
    (error) => toFailure(error, identity.secrets()),
    () =>
      request().catch((error: unknown) => {
        const { status, code } = error as { status?: unknown; code?: unknown };
        if (status !== 401 && code !== 401) throw error;
        identity.expire();
        attempts.requests += 1;
        return request();
      }),
  );
}
