import { type Counted, FixedWindows, type WindowCounter } from '../api/plugins/fixed-windows.ts';
import { isOfKind } from './messages.ts';

/** A request that a server process asks the first process to count. */
interface Count {
  readonly kind: 'count';
  readonly id: number;
  /** The limit that it counts for, the same in all processes. */
  readonly limit: string;
  readonly key: string;
  /** Milliseconds. */
  readonly length: number;
}

interface CountAnswer {
  readonly kind: 'counted';
  readonly id: number;
  readonly result: Counted;
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
      if (!isOfKind<Count>(message, 'count')) return;
      const { id, limit, key, length } = message;
      let windows = this.#windows.get(limit);
      if (windows === undefined) {
        windows = new FixedWindows(this.#now);
        this.#windows.set(limit, windows);
      }
      windows.incr(key, (_error, result) => channel.send?.({ kind: 'counted', id, result }), length);
    });
  }
}

/** Counts in the first process, for a server process. */
export function remoteCounter(channel: Channel): WindowCounter {
  const waiting = new Map<number, (result: Counted) => void>();
  let last = 0;
  channel.on('message', (message) => {
    if (!isOfKind<CountAnswer>(message, 'counted')) return;
    waiting.get(message.id)?.(message.result);
    waiting.delete(message.id);
  });
  const counterOf = (limit: string): WindowCounter => {
    let children = 0;
    return {
      incr: (key, done, length) => {
        const id = ++last;
        waiting.set(id, (result) => done(null, result));
        channel.send?.({ kind: 'count', id, limit, key, length } satisfies Count);
      },
      // Limits are made in the same order in all processes.
      child: () => counterOf(`${limit}.${children++}`),
    };
  };
  return counterOf('');
}
