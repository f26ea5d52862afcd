import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Answers shorter than this fit in a packet or two anyway. */
const THRESHOLD = 2048;

/**
 * Compresses answers by `Accept-Encoding`, each method at the level where it is fast (ARCHITECTURE.md, "Measured"):
 * higher ones save a tenth of the bytes and cost three times the time.
 */
export async function addCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, {
    global: true,
    // Nothing reads what comes with a request.
    globalDecompression: false,
    threshold: THRESHOLD,
    encodings: ['zstd', 'br', 'gzip'],
    zlibOptions: { level: 1 },
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  });
}
