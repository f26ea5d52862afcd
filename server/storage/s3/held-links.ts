import { unlink } from 'node:fs/promises';
import { LRUCache, type Perf } from 'lru-cache';
import type { StoredFile } from '../file-store.ts';

/** A link that nothing reads stays for so long, in milliseconds, for the next question about its file. */
const REST = 2000;
/** Links that nothing reads, at most, and the part of the bytes of the cache that their files may take beside it. */
const MAX_RESTING = 100;
const SHARE = 0.1;

/** A file that this process reads, by a separate hard link, so that no other process can remove it. */
export interface Held {
  readonly path: string;
  readonly ready: Promise<void>;
  readers: number;
}

/** The links to files that this process reads, or has read just now: to make a link for each question takes 60 µs. */
export class HeldLinks {
  readonly #held = new Map<string, Held>();
  readonly #resting: LRUCache<string, Held>;
  readonly #maxBytes: number;
  readonly #ending = new Set<Promise<void>>();

  /** @param cacheBytes the bytes of the cache */
  constructor(cacheBytes: number, perf: Perf = performance) {
    this.#maxBytes = Math.floor(cacheBytes * SHARE);
    this.#resting = new LRUCache({
      max: MAX_RESTING,
      maxSize: Math.max(1, this.#maxBytes),
      ttl: REST,
      ttlAutopurge: true,
      ttlResolution: 0,
      perf,
      dispose: (held, file) => this.#end(file, held),
    });
  }

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
  release({ file, bytes }: StoredFile, held: Held, isUsable: boolean): void {
    held.readers--;
    const rests = isUsable && bytes <= this.#maxBytes && this.#held.get(file) === held;
    if (rests) this.#resting.set(file, held, { size: Math.max(1, bytes) });
    else this.#end(file, held);
  }

  /** Removes the link to a file if nothing reads it. */
  drop(file: string): void {
    this.#resting.delete(file);
  }

  /** Removes all links that nothing reads. Returns whether there were any. */
  async shrink(): Promise<boolean> {
    this.#resting.clear();
    const ending = [...this.#ending];
    await Promise.all(ending);
    return ending.length > 0;
  }

  /** All further readers need new links; current ones continue. */
  clear(): void {
    this.#held.clear();
    this.#resting.clear();
  }

  #end(file: string, held: Held): void {
    if (held.readers > 0) return;
    if (this.#held.get(file) === held) this.#held.delete(file);
    const ended = unlink(held.path).catch(() => {});
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }
}
