import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../api/negotiation.ts';
import { invalidRequest } from '../domain/errors.ts';

/** Paths in one request: more than any screen needs. */
const MAX_PATHS = 12;
/** Below the API: no way out of it, and none into this address again. */
const PATH = /^\/(?!together)[a-z][^#\\]*$/;
const UPWARDS = /(?:^|\/)(?:\.|%2e){2}(?:\/|$)/i;

/** What is answered about one of the paths. */
interface Part {
  /** Index of the path among those sent. */
  readonly index: number;
  readonly status: number;
  /** Seconds, as the header `Retry-After`. */
  readonly retryAfter: number | null;
  /** Why it is unavailable; see the header `X-Unavailable-Reason`. */
  readonly reason: string | null;
  readonly body: unknown;
}

/**
 * `GET /app/api/together?get=PATH&get=PATH`: answers several requests of one screen in one, as lines of JSON, each as soon
 * as it is there. Each path is asked as if it was sent alone, with the same checks.
 * @param root where the API is
 */
export function addTogether(api: FastifyInstance, root: string): void {
  api.get('/together', { schema: { hide: true } }, async (request, reply) => {
    const paths = pathsOf(request.query);
    const parts = Readable.from(answers(api, request, root, paths));
    reply.type('application/x-ndjson').header('cache-control', 'no-store');
    const isZipped = preferredEncoding(request) !== 'identity';
    if (!isZipped) return reply.header('content-encoding', 'identity').send(parts);
    // Each line leaves at once: a list that a provider is asked for may take seconds.
    const zip = createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH });
    parts.on('error', (error) => zip.destroy(error));
    zip.on('close', () => parts.destroy());
    return reply.header('content-encoding', 'gzip').header('vary', 'accept-encoding').send(parts.pipe(zip));
  });
}

function pathsOf(query: unknown): string[] {
  const { get } = query as { get?: string | string[] };
  const paths = [get ?? []].flat();
  if (paths.length === 0 || paths.length > MAX_PATHS) {
    throw invalidRequest(
      `get must be sent 1 to ${MAX_PATHS} times, each with a path; it was sent ${paths.length} times.`,
    );
  }
  for (const path of paths) {
    const isBelow = PATH.test(path) && !UPWARDS.test(path.split('?')[0]!);
    if (!isBelow)
      throw invalidRequest(`get must be a path of this API, such as /projects, not '${path.slice(0, 60)}'.`);
  }
  return paths;
}

async function* answers(
  api: FastifyInstance,
  request: FastifyRequest,
  root: string,
  paths: readonly string[],
): AsyncGenerator<string> {
  const waiting = new Map(paths.map((path, index) => [index, answerOne(api, request, { url: root + path, index })]));
  while (waiting.size > 0) {
    const part = await Promise.race(waiting.values());
    waiting.delete(part.index);
    yield `${JSON.stringify(part)}\n`;
  }
}

async function answerOne(
  api: FastifyInstance,
  { headers, ip, signal }: FastifyRequest,
  { url, index }: { url: string; index: number },
): Promise<Part> {
  // A conditional request has no body to pass on, and what is compressed would be compressed again.
  const { 'if-none-match': _tag, 'accept-encoding': _encoding, accept: _accept, ...sent } = headers;
  const answer = await api.inject({ method: 'GET', url, headers: sent, remoteAddress: ip, signal });
  const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN);
  return {
    index,
    status: answer.statusCode,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    reason: (answer.headers['x-unavailable-reason'] as string | undefined) ?? null,
    body: JSON.parse(answer.body === '' ? 'null' : answer.body) as unknown,
  };
}
