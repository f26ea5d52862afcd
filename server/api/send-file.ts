import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { outOfRange } from '../domain/errors.ts';
import type { SentFile } from '../presets/snapshot.ts';
import { wantedBytes } from './byte-range.ts';
import { matchesEtag } from './negotiation.ts';

/**
 * Sends an immutable file, or the part that `Range` requests. Its hash is its entity tag, so that clients never combine
 * parts of different files.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  { bytes: size, sha256, read }: SentFile,
): Promise<FastifyReply> {
  const etag = `"${sha256}"`;
  reply.header('accept-ranges', 'bytes');
  if (matchesEtag(request, etag)) return reply.code(304).header('etag', etag).send();
  const condition = request.headers['if-range'];
  const isMeant = request.method === 'GET' && (condition === undefined || condition === etag);
  const span = isMeant ? wantedBytes(request.headers.range, size) : undefined;
  if (span === 'none') {
    reply.header('content-range', `bytes */${size}`);
    throw outOfRange(size);
  }
  const { start, end } = span ?? { start: 0, end: size - 1 };
  const headers = {
    'content-type': type,
    'content-length': String(end - start + 1),
    etag,
    ...(span ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
  };
  if (request.method === 'HEAD') return reply.headers(headers).send(Readable.from([]));
  reply.code(span ? 206 : 200);
  return reply.sendStream(undefined, async () => ({ headers, body: chunks(read(start, end)) }));
}

async function* chunks(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  yield* parts;
}
