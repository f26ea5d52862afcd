import type { gaxios } from 'google-auth-library';
import type { ProviderContext } from '../provider.ts';
import { type ProviderRun, sendCounted, withRetries } from '../retries.ts';
import { type Identity, timeLimitOf } from './auth.ts';
import { toFailure } from './failures.ts';

/**
 * Maximum bytes of a decompressed response. A full page of 25,000 rows with long URLs has about ten million. Longer responses
 * are aborted.
 */
const MAX_RESPONSE_BYTES = 32_000_000;

/** Options of all requests of a run, for `gaxios`, which all clients of Google use. */
export function requestOptions(context: ProviderContext, { signal }: ProviderRun) {
  return {
    timeout: timeLimitOf(context),
    signal,
    // Retries are those of the run.
    retry: false,
    // A redirect would carry the token elsewhere: no API of Google sends one.
    redirect: 'manual',
    responseType: 'json',
    maxContentLength: MAX_RESPONSE_BYTES,
    fetchImplementation: fetchUnlessAborted,
  } as const satisfies gaxios.GaxiosOptions;
}

/**
 * The `fetch` that `gaxios` uses by default. Given a signal that is already aborted, it destroys the body of the request with
 * an error that nobody listens to, which ends the process.
 */
const fetchUnlessAborted: NonNullable<gaxios.GaxiosOptions['fetchImplementation']> = async (url, init) => {
  const { default: fetch } = await import('node-fetch');
  init?.signal?.throwIfAborted();
  return (await fetch(url as string, init as object)) as unknown as Response;
};

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
