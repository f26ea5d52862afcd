import { toMicroseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

const PAUSE = 1000;

/**
 * Keeps the last use of keys. The first use is written at once and later ones at most once a second, away from the
 * request that caused them: a busy catalog must not make a reader wait.
 */
export class KeyUse {
  readonly #catalog: Catalog;
  readonly #onError: (error: unknown) => void;
  readonly #pending = new Map<string, number>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writtenAt = 0;

  constructor(catalog: Catalog, onError: (error: unknown) => void) {
    this.#catalog = catalog;
    this.#onError = onError;
  }

  /** `at`: milliseconds. */
  note(keyId: string, at: number): void {
    this.#pending.set(keyId, at);
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), Math.max(0, this.#writtenAt + PAUSE - Date.now()));
    this.#timer.unref();
  }

  /** Writes what is noted; resolves when it is in. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    if (this.#pending.size === 0) return;
    const uses = [...this.#pending];
    this.#pending.clear();
    this.#writtenAt = Date.now();
    this.#writing = this.#catalog
      .patiently(() => {
        for (const [id, at] of uses) this.#catalog.run('keys_used', { id, at: toMicroseconds(at) });
      })
      .catch(this.#onError)
      .finally(() => {
        this.#writing = undefined;
        const [next] = this.#pending;
        if (next !== undefined) this.note(...next);
      });
    await this.#writing;
  }
}
