import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import { Negotiator } from '@fastify/accept-negotiator';
import compress from '@fastify/compress';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

/** Answers shorter than this fit in a packet or two anyway. */
const THRESHOLD = 2048;

/** Up to here an answer is compressed in one go: a stream costs more than its bytes, most of all that of zstd. */
const IN_ONE_GO = 128 * 1024;

/**
 * Each method at the level where it is fast (ARCHITECTURE.md, "Measured"): higher ones save a tenth of the bytes and
 * cost three times the time.
 */
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const GZIP = { level: 1 };

/** In the order in which they are used where a client takes several alike. */
const METHODS = {
  zstd: (bytes: Buffer) => promisify(zstdCompress)(bytes, ZSTD),
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, GZIP),
};

const DECODERS = { zstd: promisify(zstdDecompress), br: promisify(brotliDecompress), gzip: promisify(gunzip) };

/** How the bytes of an answer are written; `identity`: as they are. */
export type Encoding = keyof typeof METHODS | 'identity';

const COMPRESSED = Object.keys(METHODS) as (keyof typeof METHODS)[];

/** Parquet is compressed by itself. */
const COMPRESSIBLE = /^text\/|json|arrow/;

/** Compresses answers by `Accept-Encoding`. */
export async function addCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    global: true,
    // Nothing reads what comes with a request.
    globalDecompression: false,
    threshold: THRESHOLD,
    syncThreshold: IN_ONE_GO,
    encodings: COMPRESSED,
    customTypes: COMPRESSIBLE,
    zlibOptions: { ...GZIP, ...ZSTD },
    brotliOptions: BROTLI,
  });
}

const negotiator = new Negotiator<Encoding>({
  supportedValues: COMPRESSED,
  cache: new LRUCache<string, string>({ max: 100 }),
});

/** The encoding that a client wants most. */
export function wantedEncoding({ headers }: FastifyRequest): Encoding {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined) return 'identity';
  // Who takes anything gets what everyone can read, as the plugin has it.
  return negotiator.negotiate(accepted.toLowerCase().replaceAll(/\*|x-gzip/g, 'gzip')) ?? 'identity';
}

/** Bytes and how they are written. */
export interface EncodedBytes {
  readonly bytes: Buffer;
  readonly encoding: Encoding;
}

/** Compresses an answer, unless it is so short that this wins nothing. */
export async function encode(bytes: Buffer, encoding: Encoding): Promise<EncodedBytes> {
  if (encoding === 'identity' || bytes.length < THRESHOLD) return { bytes, encoding: 'identity' };
  return { bytes: await METHODS[encoding](bytes), encoding };
}

/** The bytes of an answer as they were before `encode`. */
export async function decode({ bytes, encoding }: EncodedBytes): Promise<Buffer> {
  return encoding === 'identity' ? bytes : DECODERS[encoding](bytes);
}
