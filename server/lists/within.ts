import { unavailable } from '../domain/errors.ts';

/** Waits for `fetch`. Throws `unavailable` after `seconds`, or when the client disconnects. */
export async function within<T>(seconds: number, signal: AbortSignal, fetch: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(unavailable('The request ended before the list was available.'));
  const timer = setTimeout(() => {
    reject(unavailable('The list is still being fetched from the search provider; try again in a minute.'));
  }, seconds * 1000);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([fetch, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}
