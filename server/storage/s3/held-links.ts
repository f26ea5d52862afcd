import { unlink } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';

/** A link that nothing reads stays for so long, in milliseconds, for the next question about its file. */
const REST = 2000;
/** Links that nothing reads, at most. */
const MAX_RESTING = 100;

/** A file that this process reads, by a separate hard link, so that no other process can remove it. */
export interface Held {
  readonly path: string;
  readonly ready: Promise<void>;
  readers: number;
}

/** The links to files that this process reads, or has read just now: to make a link for each question takes 60 µs. */
export class HeldLinks {
  readonly #held = new Map<string, Held>();
  readonly #resting = new LRUCache<string, Held>({
    max: MAX_RESTING,
    ttl: REST,
    ttlAutopurge: true,
    dispose: (held, file) => this.#end(file, held),
  });

  /**
   * The link to a file for a further reader; undefined if there is none.
   * @param isIntact whether a link that nothing reads is still what it was
   */
  find(file: string, isIntact: (path: string) => boolean): Held | undefined {
    const held = this.#held.get(file);
    if (held?.readers === 0 && !isIntact(held.path)) {
      this.drop(file);
      return undefined;
    }
    if (held !== undefined) held.readers++;
    return held;
  }

  /** Adds a link that is being made, for its first reader. */
  add(file: string, link: Pick<Held, 'path' | 'ready'>): Held {
    const held = { ...link, readers: 1 };
    this.#held.set(file, held);
    return held;
  }

  /** @param isUsable whether the next reader may use it, too */
  release(file: string, held: Held, isUsable: boolean): void {
    held.readers--;
    if (isUsable && this.#held.get(file) === held) this.#resting.set(file, held);
    else this.#end(file, held);
  }

  /** Removes the link to a file if nothing reads it. */
  drop(file: string): void {
    this.#resting.delete(file);
  }

  /** Removes all links that nothing reads. */
  shrink(): void {
    this.#resting.clear();
  }

  /** All further readers need new links; current ones continue. */
  clear(): void {
    this.#held.clear();
    this.#resting.clear();
  }

  #end(file: string, held: Held): void {
    if (held.readers > 0) return;
    if (this.#held.get(file) === held) this.#held.delete(file);
    void unlink(held.path).catch(() => {});
  }
}
