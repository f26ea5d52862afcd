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
