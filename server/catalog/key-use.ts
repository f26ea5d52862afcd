import { addDays, dayOf } from '../domain/dates.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { AUDIT_DAYS } from './audit.ts';
import type { Usage } from './usage.ts';

/** Uses are written so long after the first of them, in milliseconds. */
const WRITE_AFTER = 1000;

/** Requests that are not stored yet. */
interface Use {
  readonly requests: number;
  /** Of the last one. */
  readonly at: Microseconds;
}

/** Stores when and how often keys are used, asynchronously and at most once a second. */
export class KeyUse {
  readonly #usage: Usage;
  readonly #pending = new Map<string, Use>();
  #forgottenOn = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(usage: Usage) {
    this.#usage = usage;
  }

  /** @param at milliseconds */
  note(keyId: string, at: number): void {
    const requests = (this.#pending.get(keyId)?.requests ?? 0) + 1;
    this.#pending.set(keyId, { requests, at: toMicroseconds(at) });
    if (this.#timer !== undefined) return;
    // A write right now would hold up the request.
    this.#timer = setTimeout(() => void this.flush(), WRITE_AFTER);
    this.#timer.unref();
  }

  /** Writes pending uses. Failed writes are retried with the next use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [id, use] of this.#pending) {
      this.#pending.delete(id);
      const { requests, at } = use;
      const day = dayOf(at / 1000);
      if (!(await this.#usage.run('key_used', { id, at }))) {
        this.#putBack(id, use);
        return;
      }
      await this.#usage.run('key_used_on_day', { id, day, requests, at });
      await this.#forgetOldDays(day);
    }
  }

  /** The key may have been used again during the write. */
  #putBack(id: string, { requests, at }: Use): void {
    const later = this.#pending.get(id);
    this.#pending.set(id, { requests: requests + (later?.requests ?? 0), at: later?.at ?? at });
  }

  async #forgetOldDays(today: string): Promise<void> {
    if (today === this.#forgottenOn) return;
    this.#forgottenOn = today;
    await this.#usage.run('key_days_forget', { before: addDays(today, -AUDIT_DAYS) });
  }
}

/** The last use of every key that was used. */
export async function readKeyUses(usage: Usage): Promise<Map<string, Microseconds>> {
  const rows = await usage.all<{ id: string; usedAt: Microseconds }>('key_uses_all');
  return new Map(rows.map(({ id, usedAt }) => [id, usedAt]));
}
