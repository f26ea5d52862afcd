interface Flight<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  waiting: number;
}

/** Runs work once for all who want its result at the same time. It is stopped when nobody waits for it any more. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * The result of the work under way for `key`, or of `work`, which then starts.
   * @param signal the caller does not wait any more; rejects with its reason
   */
  async run(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting++;
    const left = Promise.withResolvers<never>();
    const leave = (): void => {
      flight.waiting--;
      if (flight.waiting === 0) {
        // Nobody joins work that has been stopped.
        this.#forget(key, flight);
        flight.stop.abort(signal.reason);
      }
      left.reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([flight.result, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight: Flight<T> = { result: work(stop.signal), stop, waiting: 0 };
    this.#flights.set(key, flight);
    const ended = (): void => this.#forget(key, flight);
    flight.result.then(ended, ended);
    return flight;
  }

  /** Stopped work may end long after its successor has started. */
  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
