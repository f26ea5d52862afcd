import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { constants, createGzip } from 'node:zlib';
import type { FastifyInstance, FastifyRequest, LightMyRequestResponse } from 'fastify';
import { preferredEncoding } from '../api/negotiation.ts';
import { errorBody, logError } from '../api/plugins/errors.ts';
import { invalidRequest, stopping } from '../domain/errors.ts';

/** Paths in one request: more than any screen needs. */
const MAX_PATHS = 12;
/**
 * A path below the API, with a query if any. Letters, escapes and separators are those of RFC 3986, so that nothing is left
 * that a reader of addresses drops or changes. The name of an endpoint has no escapes.
 */
const PATH = /^\/(?<name>[a-z-]+)(?<ids>(?:\/(?:[\w.~!$&'()*+,;=:@-]|%[\da-f]{2})+)*)(?:\?[!"$-[\]-~]*)?$/i;
/** Ids with which a path leads elsewhere: they are steps of a path, or have several. */
const STEPS = /^\.{1,2}$|[/\\\p{Cc}]/u;

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
    if (!isBelow(path))
      throw invalidRequest(`get must be a path of this API, such as /projects, not '${path.slice(0, 60)}'.`);
  }
  return paths;
}

/** Whether a path stays below the API, and does not lead to this address again. */
function isBelow(path: string): boolean {
  const { name = 'together', ids = '' } = PATH.exec(path)?.groups ?? {};
  return name !== 'together' && !ids.split('/').some((id) => STEPS.test(decode(id)));
}

/** A step for escapes that mean nothing. */
function decode(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return '..';
  }
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
  request: FastifyRequest,
  { url, index }: { url: string; index: number },
): Promise<Part> {
  const { headers, ip, signal } = request;
  // A conditional request has no body to pass on, and what is compressed would be compressed again.
  const { 'if-none-match': _tag, 'accept-encoding': _encoding, accept: _accept, ...sent } = headers;
  try {
    // A server that stops takes no requests of its own.
    if (api.isStopping()) throw stopping();
    const options = { method: 'GET', url, headers: sent, remoteAddress: ip, signal, payloadAsStream: true } as const;
    const answer = await api.inject(options);
    const body = await readJson(answer);
    const retryAfter = Number(answer.headers['retry-after'] ?? Number.NaN);
    return {
      index,
      status: answer.statusCode,
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
      reason: (answer.headers['x-unavailable-reason'] as string | undefined) ?? null,
      body,
    };
  } catch (error) {
    // The other parts do not fail with this one.
    const known = logError(error, request);
    const { status, retryAfter = null, reason } = known;
    return { index, status, retryAfter, reason: status === 503 ? reason : null, body: errorBody(known) };
  }
}

/** The body of an answer, null without one. Other formats are not read: a file may be long. */
async function readJson({ headers, stream }: LightMyRequestResponse): Promise<unknown> {
  const type = headers['content-type'];
  if (type !== undefined && !String(type).startsWith('application/json')) {
    stream().destroy();
    throw invalidRequest('get must be a path with an answer in JSON; ask for other formats alone.');
  }
  const body = await text(stream());
  return body === '' ? null : (JSON.parse(body) as unknown);
}
