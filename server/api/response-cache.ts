import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { SingleFlight } from '../runtime/single-flight.ts';
import { decode, type EncodedBytes, type Encoding, encode } from './plugins/compression.ts';

export interface ResponseCacheState {
  readonly answers: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/** The bytes of one answer in the encodings that were asked for. */
type Encoded = ReadonlyMap<Encoding, EncodedBytes>;

/**
 * Finished answers as bytes, by query value and encoding. A query value holds the revisions of what it is about, so that
 * nothing has to expire. Equal queries at the same time run once, whatever encodings their clients want; work is stopped
 * when nobody waits for it.
 */
export class ResponseCache {
  readonly #finished: LRUCache<CacheKey, Encoded> | undefined;
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
            sizeCalculation: (encoded, key) => key.length + sizeOf(encoded),
          });
  }

  get state(): ResponseCacheState {
    const { size: answers = 0, calculatedSize: bytes = 0 } = this.#finished ?? {};
    return { answers, bytes, hits: this.#hits, misses: this.#misses };
  }

  /** The answer to a query, where it is cached in this encoding. */
  find(key: CacheKey, encoding: Encoding): EncodedBytes | undefined {
    const finished = this.#finished?.get(key)?.get(encoding);
    if (finished === undefined) this.#misses++;
    else this.#hits++;
    return finished;
  }

  /**
   * The answer to a query that is not cached in this encoding: the bytes of `run`, encoded and then cached. Where it is
   * cached in another encoding, that one is decoded: it costs less than running again.
   * @param signal aborted when the caller has gone
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

/** Short bytes are often a part of a large block, which would be kept with them and counted by nobody. */
function withOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends bytes that are JSON. */
export function sendBytes(reply: FastifyReply, { bytes, encoding }: EncodedBytes, etag?: string): FastifyReply {
  if (etag !== undefined) reply.header('etag', etag);
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(JSON_TYPE).send(bytes);
}
