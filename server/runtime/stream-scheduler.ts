interface Waiting {
  readonly started: number;
  readonly since: number;
  readonly go: () => void;
}

/** The longest time that a stream may be delayed in favour of others, in milliseconds. */
const MAX_PAUSE = 5000;

/**
 * Schedules long responses: one part per turn of the event loop, for the response that started first. Serving all of them
 * equally would delay every one. The delay is limited, because clients and proxies treat silence as a failure.
 */
export class StreamScheduler {
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];

  /** @param now milliseconds, as `performance.now` */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when the response that started at `started` may write its next part. */
  take(started: number): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    this.#waiting.push({ started, since: this.#now(), go });
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
    return promise;
  }

  #next(): void {
    const [longest] = this.#waiting;
    if (longest === undefined) return;
    const isLate = this.#now() - longest.since > MAX_PAUSE;
    const first = isLate ? longest : this.#waiting.reduce((a, b) => (b.started < a.started ? b : a));
    this.#waiting.splice(this.#waiting.indexOf(first), 1);
    first.go();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}
