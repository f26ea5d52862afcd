import { type Counted, FixedWindows, type WindowCounter } from '../api/plugins/fixed-windows.ts';
import { isOfKind } from './messages.ts';

/** A request that a server process asks the first process to count. */
interface Count {
  /** The limit that it counts for, the same in all processes. */
  readonly limit: string;
  readonly key: string;
  /** Milliseconds. */
  readonly length: number;
}

/** The requests of one turn of the event loop: a message takes longer than a request to count. */
interface Counts {
  readonly kind: 'count';
  readonly counts: readonly Count[];
}

/** The results of the oldest message without an answer: messages keep their order. */
interface CountsAnswer {
  readonly kind: 'counted';
  readonly results: readonly Counted[];
}

/** The channel to the other process: `process`, or a worker of `node:cluster`. */
interface Channel {
  send?(message: object): unknown;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Counts requests of all server processes, so that a limit holds over all of them together. */
export class SharedCounters {
  readonly #windows = new Map<string, FixedWindows>();
  readonly #now: () => number;

  /** @param now milliseconds, as `Date.now` */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Answers the counts of a server process. */
  serve(channel: Channel): void {
    channel.on('message', (message) => {
      if (!isOfKind<Counts>(message, 'count')) return;
      const results = message.counts.map((count) => this.#count(count));
      channel.send?.({ kind: 'counted', results } satisfies CountsAnswer);
    });
  }

  #count({ limit, key, length }: Count): Counted {
    const windows = this.#windows.getOrInsertComputed(limit, () => new FixedWindows(this.#now));
    return windows.count(key, length);
  }
}

type Done = (result: Counted) => void;

/** Counts in the first process, for a server process. */
export function remoteCounter(channel: Channel): WindowCounter {
  /** The requests of this turn, and what waits for each of them. */
  let counts: Count[] = [];
  let dones: Done[] = [];
  /** What waits for the messages without an answer. */
  const waiting: Done[][] = [];
  channel.on('message', (message) => {
    if (!isOfKind<CountsAnswer>(message, 'counted')) return;
    for (const [index, done] of waiting.shift()?.entries() ?? []) done(message.results[index]!);
  });
  const send = (): void => {
    channel.send?.({ kind: 'count', counts } satisfies Counts);
    waiting.push(dones);
    counts = [];
    dones = [];
  };
  const counterOf = (limit: string): WindowCounter => {
    let children = 0;
    return {
      incr: (key, done, length) => {
        if (counts.length === 0) setImmediate(send);
        counts.push({ limit, key, length });
        dones.push((result) => done(null, result));
      },
      // Limits are made in the same order in all processes.
      child: () => counterOf(`${limit}.${children++}`),
    };
  };
  return counterOf('');
}
