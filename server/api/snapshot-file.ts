import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { outOfRange, UNREADABLE_REQUESTS } from '../domain/errors.ts';
import { MEDIA_TYPES } from '../domain/formats.ts';
import { FILES_PER_REQUEST, REQUESTS_PER_MINUTE } from '../domain/request-limits.ts';
import { findReadableProject } from '../presets/preset.ts';
import { projectPath } from '../presets/schemas.ts';
import { type SentFile, snapshotFile } from '../presets/snapshot.ts';
import { matchesEtag } from './negotiation.ts';
import { bytes, constantHeader, errorResponse, responses } from './responses.ts';
import type { Route } from './route.ts';

const PARQUET = MEDIA_TYPES.parquet;

const rangeHeaders = {
  'Accept-Ranges': constantHeader('bytes'),
  'Content-Range': { type: 'string', description: 'Which bytes are sent, and the size of the file.' },
};

/** The `response` part of a route that sends a file. */
function fileResponses(description: string): object {
  const {
    200: answer,
    304: notModified,
    ...errors
  } = responses(Type.Null(), '', ['not_found'], { hasEtag: true }) as {
    200: { headers: object };
    304: object;
  };
  const content = { [PARQUET]: bytes(description) };
  const { status, when } = UNREADABLE_REQUESTS.outOfRange;
  const refused = errorResponse('invalid_request') as { headers: object };
  return {
    200: { description, headers: { ...answer.headers, 'Accept-Ranges': rangeHeaders['Accept-Ranges'] }, content },
    206: {
      description: 'The requested bytes.',
      headers: { ...answer.headers, ...rangeHeaders },
      content,
    },
    304: notModified,
    [status]: {
      ...refused,
      description: `\`invalid_request\`: ${when}.`,
      headers: { ...refused.headers, 'Content-Range': rangeHeaders['Content-Range'] },
    },
    ...errors,
  };
}

/** A file of the snapshot, sent unchanged. */
export const snapshotFileRoute: Route = {
  path: '/projects/:id/snapshot/:file',
  params: Type.Object({ ...projectPath.properties, file: Type.String({ description: 'The last part of `href`.' }) }),
  operation: 'getSnapshotFile',
  parameters: {},
  tag: 'Snapshot',
  summary: 'A file of facts',
  description: `Supports \`Range\`, so that Parquet readers fetch only what they need. A replaced file is available for another hour. Requests for files have a rate limit of their own, which their headers show: ${REQUESTS_PER_MINUTE * FILES_PER_REQUEST} per minute with one key by default.`,
  sendsFiles: true,
  response: fileResponses('The file.'),
  handle: (context) => async (request, reply) => {
    const { id, file } = request.params as { id: string; file: string };
    const { workspace } = request.principal!;
    const found = await findReadableProject(context, { workspace, id });
    return sendFile(request, reply, await snapshotFile(context, found, file));
  },
};

/**
 * Sends an immutable file, or the part that `Range` requests. Its hash is its entity tag, so that clients never combine
 * parts of different files.
 */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
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
    'content-type': PARQUET,
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

/** A byte range of a file, both ends included. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header: a span, or `none` if the file has no such bytes. Undefined means the whole file: multiple
 * ranges, other units and malformed values are ignored, as in RFC 9110.
 */
function wantedBytes(range: string | undefined, size: number): Span | 'none' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  if (first === '') {
    const count = Math.min(Number(last), size);
    return count === 0 ? 'none' : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'none' : { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
