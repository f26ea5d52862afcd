import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { UsageDatabase } from './usage.ts';

const WRITE_INTERVAL_MS = 1000;

/** Stores the last use of keys, asynchronously and at most once a second. */
export class KeyUse {
  readonly #usage: UsageDatabase;
  readonly #pending = new Map<string, Microseconds>();
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = 0;

  constructor(usage: UsageDatabase) {
    this.#usage = usage;
  }

  /** @param at milliseconds */
  note(keyId: string, at: number): void {
    this.#pending.set(keyId, toMicroseconds(at));
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), Math.max(0, this.#writtenAt + WRITE_INTERVAL_MS - Date.now()));
    this.#timer.unref();
  }

  /** Writes pending uses. Failed writes are retried with the next use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writtenAt = Date.now();
    for (const [id, at] of this.#pending) {
      if (!(await this.#usage.run('key_used', { id, at }))) return;
      // The key may have been used again during the write.
      if (this.#pending.get(id) === at) this.#pending.delete(id);
    }
  }
}

/** The last use of every key that was used. */
export async function readKeyUses(usage: UsageDatabase): Promise<Map<string, Microseconds>> {
  const rows = await usage.all<{ id: string; usedAt: Microseconds }>('key_uses_all');
  return new Map(rows.map(({ id, usedAt }) => [id, usedAt]));
}
