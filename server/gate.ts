import pLimit from 'p-limit';
import { unavailable } from './domain/errors.ts';

/** Lets a few in at a time and a few more wait; the rest is told to come back later instead of being piled up. */
export class Gate {
  readonly #limit: ReturnType<typeof pLimit>;
  readonly #mostWaiting: number;

  /**
   * @param most how many are inside at once
   * @param mostWaiting how many wait before it
   */
  constructor(most: number, mostWaiting: number) {
    this.#limit = pLimit(most);
    this.#mostWaiting = mostWaiting;
  }

  /** Resolves with the way out, to be called once. Throws `unavailable` when too many wait already. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#limit.pendingCount >= this.#mostWaiting) {
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
