import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliDecompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gunzip,
  gzip,
  zstdCompress,
  zstdDecompress,
} from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { type Encoding, preferredEncoding } from '../negotiation.ts';

/** Shorter responses fit in one or two packets uncompressed. */
const THRESHOLD = 2048;

/** Fast levels: higher levels save a tenth of the bytes and take three times as long. */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const GZIP = { level: 1 };

const METHODS = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, ZSTD),
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, GZIP),
};

const DECODERS = { zstd: promisify(zstdDecompress), br: promisify(brotliDecompress), gzip: promisify(gunzip) };

/** Parquet is already compressed. */
const COMPRESSIBLE = /^text\/|json|arrow/;

const STREAMS = {
  zstd: () => createZstdCompress(ZSTD),
  br: () => createBrotliCompress(BROTLI),
  gzip: () => createGzip(GZIP),
};

/**
 * Compresses responses by `Accept-Encoding`. `@fastify/compress` asks of each whether it is one of `fetch`, so that the
 * first answer of a process waits 15 ms or more for that client, which takes 20 MB.
 */
export function addCompression(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload: Buffer | string | Readable | null) => {
    const isSentAsItIs =
      reply.hasHeader('content-encoding') ||
      // The bytes of a range are those of the whole file.
      reply.hasHeader('content-range') ||
      !COMPRESSIBLE.test(String(reply.getHeader('content-type')));
    if (payload === null || isSentAsItIs) return payload;
    const encoding = preferredEncoding(request);
    if (encoding === 'identity') return payload;
    if (payload instanceof Readable) {
      reply.header('content-encoding', encoding).removeHeader('content-length');
      // Either stream ends with the other; a failure ends the connection.
      return pipeline(payload, STREAMS[encoding](), () => {});
    }
    const whole = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    const { bytes, encoding: used } = await encode(whole, encoding);
    if (used !== 'identity') reply.headers({ 'content-encoding': used, 'content-length': bytes.length });
    return bytes;
  });
}

/** Bytes with their encoding. */
export interface EncodedBytes {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
}

/** Compresses a response, unless it is too short to benefit. */
export async function encode(bytes: Buffer, encoding: Encoding): Promise<EncodedBytes> {
  if (encoding === 'identity' || bytes.length < THRESHOLD) return { bytes, encoding: 'identity' };
  return { bytes: await METHODS[encoding](bytes), encoding };
}

/** Reverses `encode`. */
export async function decode({ bytes, encoding }: EncodedBytes): Promise<Buffer> {
  return encoding === 'identity' ? bytes : DECODERS[encoding](bytes);
}
