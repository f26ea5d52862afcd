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

/** A request to count, and what waits for the result. */
interface Waiting {
  readonly count: Count;
  readonly done: Parameters<WindowCounter['incr']>[1];
}

/** Counts in the first process, for a server process. */
export function remoteCounter(channel: Channel): WindowCounter {
  let turn: Waiting[] = [];
  /** The requests of the messages without an answer. */
  const sent: Waiting[][] = [];
  channel.on('message', (message) => {
    if (!isOfKind<CountsAnswer>(message, 'counted')) return;
    for (const [index, { done }] of sent.shift()?.entries() ?? []) done(null, message.results[index]!);
  });
  const send = (): void => {
    channel.send?.({ kind: 'count', counts: turn.map(({ count }) => count) } satisfies Counts);
    sent.push(turn);
    turn = [];
  };
  const counterOf = (limit: string): WindowCounter => {
    let children = 0;
    return {
      incr: (key, done, length) => {
        if (turn.length === 0) setImmediate(send);
        turn.push({ count: { limit, key, length }, done });
      },
      // Limits are made in the same order in all processes.
      child: () => counterOf(`${limit}.${children++}`),
    };
  };
  return counterOf('');
}
