import pLimit from 'p-limit';
import { unavailable } from './domain/errors.ts';

/** Lets a few in at a time and a few more wait; the rest is told to come back later instead of being piled up. */
export class Gate {
  readonly #limit: ReturnType<typeof pLimit>;
  /** Inside and waiting. */
  readonly #most: number;

  /**
   * @param most how many are inside at once
   * @param mostWaiting how many wait before it
   */
  constructor(most: number, mostWaiting: number) {
    this.#limit = pLimit(most);
    this.#most = most + mostWaiting;
  }

  /** Resolves with the way out, to be called once. Throws `unavailable` when too many wait already. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#limit.activeCount + this.#limit.pendingCount >= this.#most) {
      throw unavailable('The service is busy with long answers; try again later.');
    }
    const { promise: inside, resolve: leave } = Promise.withResolvers<void>();
    await new Promise<void>((entered) => {
      void this.#limit(() => {
        entered();
        return inside;
      });
    });
    if (signal.aborted) leave();
    signal.throwIfAborted();
    return leave;
  }

  /** Runs `work` inside. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}

/** A gate with a share for each key, so that one cannot take all places. */
export class KeyedGate {
  readonly #all: Gate;
  readonly #share: number;
  readonly #mostWaiting: number;
  readonly #ofKey = new Map<string, { gate: Gate; users: number }>();

  /**
   * @param most how many are inside at once, of all keys
   * @param share how many of one key
   * @param mostWaiting how many wait before it
   */
  constructor(most: number, share: number, mostWaiting: number) {
    this.#all = new Gate(most, mostWaiting);
    this.#share = share;
    this.#mostWaiting = mostWaiting;
  }

  /** As `Gate.enter`. The way out may be called more than once. */
  async enter(key: string, signal: AbortSignal): Promise<() => void> {
    const own = this.#ofKey.get(key) ?? { gate: new Gate(this.#share, this.#mostWaiting), users: 0 };
    this.#ofKey.set(key, own);
    own.users++;
    const forget = (): void => {
      own.users--;
      if (own.users === 0) this.#ofKey.delete(key);
    };
    let leaveOwn: (() => void) | undefined;
    try {
      leaveOwn = await own.gate.enter(signal);
      const leaveAll = await this.#all.enter(signal);
      let isInside = true;
      return () => {
        if (!isInside) return;
        isInside = false;
        leaveAll();
        leaveOwn?.();
        forget();
      };
    } catch (error) {
      leaveOwn?.();
      forget();
      throw error;
    }
  }
}
