interface Waiting {
  readonly started: number;
  readonly since: number;
  readonly go: () => void;
}

/** So long a client waits for more at most while others have their turn, in milliseconds. */
const MAX_PAUSE = 5000;

/**
 * Long answers are written a part at a time, one part in each turn of the event loop. The one that started first has the
 * turn whenever its client takes more: if all of them went on side by side, none would get done for a long time. None
 * pauses for longer than some seconds, for clients and proxies take silence for failure.
 */
export class AnswerOrder {
  readonly #now: () => number;
  readonly #waiting: Waiting[] = [];

  /** @param now milliseconds, as `performance.now` */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Resolves when it is the turn of the answer that started then. */
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
