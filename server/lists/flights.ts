import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileLock } from '../catalog/lock.ts';
import type { CacheKey } from '../domain/cache-key.ts';

/** How often a process looks whether another one has ended what it waits for, in milliseconds. */
const POLL = 150;
const OLD_LOCK = 3_600_000;

/** Work that is done once for all who want it at the same time, in this process and in others of the data folder. */
export class Flights {
  readonly #folder: string;
  readonly #underWay = new Map<CacheKey, Promise<unknown>>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'locks');
    mkdirSync(this.#folder, { recursive: true });
  }

  /**
   * The one run of `work` for a key. Where another process is at it, `done` is asked now and then for what that one
   * has made. It goes on when those who wait for it give up.
   */
  join<T>(key: CacheKey, done: () => T | undefined, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const running = this.#underWay.get(key) as Promise<T> | undefined;
    if (running !== undefined) return running;
    const flight = this.#alone(key, done, work, signal).finally(() => this.#underWay.delete(key));
    flight.catch(() => {});
    this.#underWay.set(key, flight);
    return flight;
  }

  /** Resolves when nothing is under way any more. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  /** Removes lock files of processes that were killed. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || Date.now() - found.mtimeMs < OLD_LOCK) continue;
      using lock = FileLock.take(path);
      if (lock !== undefined) await rm(path, { force: true });
    }
  }

  async #alone<T>(key: CacheKey, done: () => T | undefined, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const path = join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.lock`);
    for (;;) {
      using lock = FileLock.take(path);
      // Asked again with the lock in hand: the one who had it may just have ended.
      const made = done();
      if (made !== undefined) return made;
      if (lock !== undefined) {
        try {
          return await work();
        } finally {
          // While it is held: who comes next makes a file of its own.
          await rm(path, { force: true });
        }
      }
      await sleep(POLL);
      signal.throwIfAborted();
    }
  }
}
