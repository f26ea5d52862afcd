import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { ENTRY_BYTES, withOwnMemory } from '../runtime/compact-buffer.ts';
import { SingleFlight } from '../runtime/promises.ts';
import type { Encoding } from './negotiation.ts';
import { decode, type EncodedBytes, encode } from './plugins/compression.ts';

export interface ResponseCacheState {
  readonly answers: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** A response in its requested encodings. */
type Encoded = ReadonlyMap<Encoding, EncodedBytes>;

/**
 * Caches responses as bytes, by query value and encoding. Query values contain revisions, so entries never expire. Concurrent
 * equal queries run once for all encodings, and are aborted when no client is waiting.
 */
export class ResponseCache {
  readonly #finished: LRUCache<CacheKey, Encoded> | undefined;
  readonly #running = new SingleFlight<Buffer>();
  readonly #encoding = new SingleFlight<EncodedBytes>();
  #hits = 0;
  #misses = 0;

  /** @param bytes size of the cache; 0 disables it */
  constructor(bytes: number) {
    // One response may take at most a quarter, so that a few long ones do not evict all others.
    this.#finished =
      bytes === 0
        ? undefined
        : new LRUCache({
            maxSize: bytes,
            maxEntrySize: Math.ceil(bytes / 4),
            sizeCalculation: (encoded, key) => ENTRY_BYTES + key.length + sizeOf(encoded),
          });
  }

  get state(): ResponseCacheState {
    const { size: answers = 0, calculatedSize: bytes = 0 } = this.#finished ?? {};
    return { answers, bytes, hits: this.#hits, misses: this.#misses };
  }

  /** The cached response in this encoding, if any. */
  find(key: CacheKey, encoding: Encoding): EncodedBytes | undefined {
    const finished = this.#finished?.get(key)?.get(encoding);
    if (finished === undefined) this.#misses++;
    else this.#hits++;
    return finished;
  }

  /**
   * Computes, encodes and caches the response to a query. A response cached in another encoding is decoded instead, which is
   * cheaper.
   * @param signal aborted when the client disconnects
   */
  make(
    key: CacheKey,
    encoding: Encoding,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Buffer>,
  ): Promise<EncodedBytes> {
    return this.#encoding.run(cacheKey(key, encoding), signal, async (stop) => {
      const [other] = this.#finished?.get(key)?.values() ?? [];
      const bytes = await (other === undefined ? this.#running.run(key, stop, run) : decode(other));
      const encoded = await encode(bytes, encoding);
      if (this.#finished === undefined) return encoded;
      const finished = { ...encoded, bytes: withOwnMemory(encoded.bytes) };
      this.#finished.set(key, new Map([...(this.#finished.get(key) ?? []), [encoding, finished]]));
      return finished;
    });
  }
}

function sizeOf(encoded: Encoded): number {
  let size = 0;
  for (const { bytes } of encoded.values()) size += bytes.length;
  return size;
}
