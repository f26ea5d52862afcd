import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import { ENCODINGS, type Encoding } from '../negotiation.ts';

/** Shorter responses fit in one or two packets uncompressed. */
const THRESHOLD = 2048;

/** Responses up to this size are compressed without a stream, whose setup costs more, especially for zstd. */
const MAX_BUFFERED = 128 * 1024;

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

/** Compresses responses by `Accept-Encoding`. */
export async function addCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    global: true,
    // Request bodies are ignored.
    globalDecompression: false,
    threshold: THRESHOLD,
    syncThreshold: MAX_BUFFERED,
    encodings: [...ENCODINGS],
    customTypes: COMPRESSIBLE,
    zlibOptions: { ...GZIP, ...ZSTD },
    brotliOptions: BROTLI,
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
