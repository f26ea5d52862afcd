import { Random } from '../../test/random.ts';

/** Something that happens at an instant of the simulated time. */
export interface Event {
  readonly at: number;
  /** Undefined for events of the simulation itself. */
  readonly owner: Owner | undefined;
  readonly label: string;
  run(): void | Promise<void>;
  isCancelled: boolean;
}

/** Events of an owner that is gone do not happen. */
export interface Owner {
  readonly name: string;
  readonly isGone: boolean;
}

/** A property that does not hold. */
export class Violation extends Error {}

/** How long an operation takes, in milliseconds. */
export type Latency = readonly [least: number, most: number];

/** The share of operations that take long, and how long these take. */
const SLOW_SHARE = 0.02;
const SLOW: Latency = [20, 2000];
/** Lines of the trace that are kept. */
const TRACE = 400;
/** Most events of a run. A run that needs more repeats something for ever. */
const MAX_EVENTS = 400_000;

/**
 * Simulated time: a queue of events, run one after the other in the order of their instants. All that a process waits for
 * is an event, so a seed decides the order in which promises resolve. Real work (files, SQLite, DuckDB) is done by the
 * event, which lasts no simulated time.
 */
export class Simulation {
  readonly random: Random;
  /** Milliseconds, as `Date.now`. */
  now: number;
  /** Decisions that a shortened run leaves out, as `NAME#NUMBER`. */
  readonly #without: ReadonlySet<string>;
  /** Decisions that were made: faults and steps. */
  readonly decisions: string[] = [];
  readonly trace: string[] = [];
  readonly violations: Violation[] = [];
  readonly #start: number;
  readonly #latencies: Random;
  readonly #counts = new Map<string, number>();
  /** The next event stands last. */
  readonly #queue: Event[] = [];
  #events = 0;
  /** A number that depends on everything that has happened. */
  #fingerprint = 0;

  constructor(seed: number, { start, without = new Set() }: { start: number; without?: ReadonlySet<string> }) {
    this.random = new Random(seed);
    this.now = start;
    this.#start = start;
    this.#without = without;
    this.#latencies = this.random.fork('latencies');
  }

  get fingerprint(): string {
    return `${this.#events} ${this.#fingerprint.toString(16)}`;
  }

  /** Seconds since the start. */
  get elapsed(): number {
    return (this.now - this.#start) / 1000;
  }

  schedule(owner: Owner | undefined, delay: number, label: string, run: Event['run']): Event {
    const event: Event = { at: this.now + Math.max(0, delay), owner, label, run, isCancelled: false };
    insert(this.#queue, event);
    return event;
  }

  /**
   * An operation of a process that takes some time: its effect happens at one instant, its result arrives at a later one.
   * A process that has gone away gets neither.
   */
  operation<T>(owner: Owner, label: string, effect: () => T | Promise<T>, latency?: Latency): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (owner.isGone) return promise;
    this.schedule(owner, this.#latency(latency), label, async () => {
      let settle: () => void;
      try {
        const result = await effect();
        settle = () => resolve(result);
      } catch (error) {
        settle = () => reject(error as Error);
      }
      if (this.#latencies.chance(0.5)) settle();
      else this.schedule(owner, this.#latency(latency), `${label} answered`, settle);
    });
    return promise;
  }

  /** Whether something that a seed may choose happens. A shortened run may leave it out. */
  decide(name: string, random: Random, probability: number): boolean {
    return random.chance(probability) && this.choose(name);
  }

  /** Registers a decision; false where it is left out. */
  choose(name: string): boolean {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const id = `${name}#${count}`;
    if (this.#without.has(id)) return false;
    this.decisions.push(id);
    this.note(`! ${id}`);
    return true;
  }

  note(line: string): void {
    this.trace.push(`${this.elapsed.toFixed(3).padStart(10)} ${line}`);
    if (this.trace.length > TRACE) this.trace.shift();
  }

  violate(message: string): void {
    this.note(`violated: ${message}`);
    this.violations.push(new Violation(message));
  }

  /** Whether events are run: where not, nothing that waits for one goes on. */
  isRunning = false;

  /** Runs events until the queue is empty, an instant is reached, a property is violated, or `isDone`. */
  async run({
    until = Number.POSITIVE_INFINITY,
    isDone = () => false,
  }: {
    until?: number;
    isDone?: () => boolean;
  } = {}): Promise<void> {
    this.isRunning = true;
    try {
      await this.#runEvents(until, isDone);
    } finally {
      this.isRunning = false;
    }
  }

  async #runEvents(until: number, isDone: () => boolean): Promise<void> {
    await settled();
    while (this.violations.length === 0 && !isDone()) {
      const next = this.#queue.at(-1);
      if (next === undefined) return;
      if (next.at > until) {
        this.now = until;
        return;
      }
      this.#queue.pop();
      if (next.isCancelled || next.owner?.isGone === true) continue;
      this.now = Math.max(this.now, next.at);
      this.#events++;
      if (this.#events > MAX_EVENTS) {
        this.violate(`there is no end after ${MAX_EVENTS} events; the last one was ${next.label}`);
        return;
      }
      const line = `${next.owner?.name ?? '-'} ${next.label}`;
      this.note(line);
      for (let at = 0; at < line.length; at++)
        this.#fingerprint = Math.imul(this.#fingerprint ^ line.charCodeAt(at), 0x01000193) >>> 0;
      await next.run();
      await settled();
    }
  }

  #latency([least, most]: Latency = [0.05, 5]): number {
    const [from, to] = this.#latencies.chance(SLOW_SHARE) ? SLOW : [least, most];
    return from + this.#latencies.next() * (to - from);
  }
}

/** Lets everything run that waits for nothing outside of JavaScript. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Puts an event behind all that happen before it or were scheduled before it. */
function insert(queue: Event[], event: Event): void {
  let [from, to] = [0, queue.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    // The next one stands last.
    if (queue[middle]!.at > event.at) from = middle + 1;
    else to = middle;
  }
  queue.splice(from, 0, event);
}
