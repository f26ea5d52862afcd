import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { CacheKey } from '../domain/cache-key.ts';
import { SingleFlight } from '../runtime/single-flight.ts';
import type { EncodedBytes } from './compression.ts';

/** Finished answers, and those that are being made. */
export interface AnswerCacheState {
  readonly answers: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
}

/**
 * Finished answers as bytes, kept by what was asked and by the revision of what they tell, so that nothing has to
 * expire. Equal questions at the same time share one answer in the making; it is given up when nobody waits for it.
 */
export class AnswerCache {
  readonly #finished: LRUCache<CacheKey, EncodedBytes> | undefined;
  readonly #making = new SingleFlight<EncodedBytes>();
  #hits = 0;
  #misses = 0;

  /** @param bytes what finished answers may take; 0 keeps none. */
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

  get state(): AnswerCacheState {
    const { size: answers = 0, calculatedSize: bytes = 0 } = this.#finished ?? {};
    return { answers, bytes, hits: this.#hits, misses: this.#misses };
  }

  /** The answer to a question, where it is kept. */
  kept(key: CacheKey): EncodedBytes | undefined {
    const finished = this.#finished?.get(key);
    if (finished === undefined) this.#misses++;
    else this.#hits++;
    return finished;
  }

  /**
   * The answer to a question that is not kept: the one in the making, or that of `make`, which is kept then.
   * @param signal the one who asks has gone
   */
  make(
    key: CacheKey,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<EncodedBytes>,
  ): Promise<EncodedBytes> {
    return this.#making.run(key, signal, async (stop) => {
      const made = await make(stop);
      if (this.#finished === undefined) return made;
      const kept = { ...made, bytes: withOwnMemory(made.bytes) };
      this.#finished.set(key, kept);
      return kept;
    });
  }
}

/** Short bytes are often a part of a large block, which would be kept with them and counted by nobody. */
function withOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/** Sends bytes that are JSON. */
export function sendBytes(reply: FastifyReply, { bytes, encoding }: EncodedBytes): FastifyReply {
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type('application/json; charset=utf-8').send(bytes);
}
