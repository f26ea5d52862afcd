import { unavailable } from '../domain/errors.ts';

/** Waits for `fetch`. Throws `unavailable` after `seconds`, or when the client disconnects. */
export async function within<T>(seconds: number, signal: AbortSignal, fetch: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(unavailable('The request ended before the list was available.', 'list-wait'));
  const timer = setTimeout(() => {
    const message = 'The list is still being fetched from the search provider; try again in a minute.';
    reject(unavailable(message, 'list-wait'));
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
