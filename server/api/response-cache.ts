import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { SingleFlight } from '../runtime/single-flight.ts';
import { decode, ENCODINGS, type EncodedBytes, type Encoding, encode } from './plugins/compression.ts';

export interface ResponseCacheState {
  readonly answers: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/**
 * Finished answers as bytes, by query value and encoding. A query value holds the revisions of what it is about, so that
 * nothing has to expire. Equal queries at the same time run once, whatever encodings their clients want; work is stopped
 * when nobody waits for it.
 */
export class ResponseCache {
  readonly #finished: LRUCache<CacheKey, EncodedBytes> | undefined;
  readonly #running = new SingleFlight<Buffer>();
  readonly #encoding = new SingleFlight<EncodedBytes>();
  #hits = 0;
  #misses = 0;

  /** @param bytes what finished answers may take; 0 caches none. */
  constructor(bytes: number) {
    // One answer takes at most a quarter: a few long ones must not drive all others out.
    this.#finished =
      bytes === 0
        ? undefined
        : new LRUCache({
            maxSize: bytes,
            maxEntrySize: Math.ceil(bytes / 4),
            sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
          });
  }

  get state(): ResponseCacheState {
    const { size: answers = 0, calculatedSize: bytes = 0 } = this.#finished ?? {};
    return { answers, bytes, hits: this.#hits, misses: this.#misses };
  }

  /** The answer to a query, where it is cached. */
  find(query: object, encoding: Encoding): EncodedBytes | undefined {
    const finished = this.#finished?.get(cacheKey(query, encoding));
    if (finished === undefined) this.#misses++;
    else this.#hits++;
    return finished;
  }

  /**
   * The answer to a query that is not cached in this encoding: the bytes of `run`, encoded and then cached.
   * @param signal aborted when the caller has gone
   */
  make(
    query: object,
    encoding: Encoding,
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<Buffer>,
  ): Promise<EncodedBytes> {
    const key = cacheKey(query, encoding);
    return this.#encoding.run(key, signal, async (stop) => {
      const bytes = await (this.#decoded(query) ?? this.#running.run(cacheKey(query), stop, run));
      const encoded = await encode(bytes, encoding);
      if (this.#finished === undefined) return encoded;
      const finished = { ...encoded, bytes: withOwnMemory(encoded.bytes) };
      this.#finished.set(key, finished);
      return finished;
    });
  }

  /** The bytes of the answer, where it is cached in another encoding: decoding costs less than running again. */
  #decoded(query: object): Promise<Buffer> | undefined {
    for (const encoding of ENCODINGS) {
      const finished = this.#finished?.get(cacheKey(query, encoding));
      if (finished !== undefined) return decode(finished);
    }
    return undefined;
  }
}

/** Short bytes are often a part of a large block, which would be kept with them and counted by nobody. */
function withOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends bytes that are JSON. */
export function sendBytes(reply: FastifyReply, { bytes, encoding }: EncodedBytes): FastifyReply {
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(JSON_TYPE).send(bytes);
}
