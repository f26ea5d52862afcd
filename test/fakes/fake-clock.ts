import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../server/jobs/clock.ts';

interface Sleeper {
  at: number;
  readonly wake: () => void;
}

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  readonly #sleepers = new Set<Sleeper>();
  #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;

  readonly sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper = { at: this.#now + milliseconds, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', () => this.#wake(sleeper), { once: true });
    });

  /** Lets so many milliseconds pass, and all that is due in them happen in its order. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const [next] = [...this.#sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#wake(next);
    }
    this.#now = end;
  }

  /** Sets the clock to another time, as an operator does; who sleeps does so for as long as before. */
  set(now: number): void {
    for (const sleeper of this.#sleepers) sleeper.at += now - this.#now;
    this.#now = now;
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper);
    sleeper.wake();
  }
}

/** What needs no time but only its turn has happened then. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

const realNow = Date.now;

/** Sets the clock of this process, of which commands in it ask. */
export function setClock(milliseconds: number): void {
  const offset = milliseconds - realNow();
  Date.now = () => realNow() + offset;
}

/** Like `setClock`, and no time passes any more. */
export function stopClock(milliseconds: number): void {
  Date.now = () => milliseconds;
}

/** The clock of other processes again. */
export function restoreClock(): void {
  Date.now = realNow;
}
