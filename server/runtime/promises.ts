interface Flight<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Runs work once for all concurrent callers with the same key. Aborts it when no caller waits for it any more. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * The result of the work that already runs for `key`, or else of `work`.
   * @param signal aborted when the caller stops waiting; the promise then rejects with its reason
   */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting++;
    const aborted = Promise.withResolvers<never>();
    const stopWaiting = (): void => {
      flight.waiting--;
      if (flight.waiting === 0) {
        // A new caller must not join aborted work.
        this.#forget(key, flight);
        flight.stop.abort(signal.reason);
      }
      aborted.reject(signal.reason);
    };
    signal.addEventListener('abort', stopWaiting, { once: true });
    try {
      return await Promise.race([flight.result, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', stopWaiting);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight: Flight<T> = { result: work(stop.signal), stop, waiting: 0 };
    this.#flights.set(key, flight);
    const ended = (): void => this.#forget(key, flight);
    flight.result.then(ended, (failure) => {
      ended();
      // Work of several parts fails with the first: the others are no longer needed.
      stop.abort(failure);
    });
    return flight;
  }

  /** Only this flight: aborted work may end long after its successor has started. */
  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

/** Waits for all, even if one fails, so that nothing goes on afterwards. Throws the first failure in their order. */
export async function allEnded<T extends readonly unknown[]>(
  running: readonly [...T],
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(running);
  return Promise.all(running);
}

/** A value that is created on the first call and then shared; a failure is not cached. */
export function lazy<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    try {
      return await make();
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
  return () => {
    made ??= start();
    return made;
  };
}

/** Results of `read` for each item, in order. While the consumer uses one, the next is read; never more than one. */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  read: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const start = (index: number): Promise<Result> | undefined => {
    if (index >= items.length) return undefined;
    const reading = read(items[index]!, index);
    // It is never awaited if the consumer stops early.
    reading.catch(() => {});
    return reading;
  };
  let next = start(0);
  for (let index = 1; next !== undefined; index++) {
    const result: Result = await next;
    next = start(index);
    yield result;
  }
}
/** Waits for work no longer than until a signal is aborted; then the work goes on unseen. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
