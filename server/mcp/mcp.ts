import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../api/context.ts';
import { logError } from '../api/plugins/errors.ts';
import { bearerKeys, type Credential, type Guard } from '../api/plugins/guard.ts';
import type { CatalogCache } from '../catalog/catalog-cache.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { lazy } from '../runtime/promises.ts';
import { type McpRequest, makeHandler } from './server.ts';

/** Bytes of a message; the longest filter is 4 kB. */
const MAX_BODY = 64 * 1024;
/** Headers that are passed to the package; it never gets keys. */
const HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name'];

/** API keys as for the API, and in `X-Api-Key`, for agents that cannot send `Authorization`. */
function mcpKeys(catalogCache: CatalogCache): Credential {
  const bearer = bearerKeys(catalogCache);
  return {
    via: 'key',
    find: (request) => {
      const { 'x-api-key': key, authorization } = request.headers;
      return typeof key === 'string' && authorization === undefined ? catalogCache.access(key) : bearer.find(request);
    },
    refusal: ({ headers }) =>
      new KnownError(
        'unauthorized',
        headers.authorization === undefined && headers['x-api-key'] === undefined
          ? 'An API key is missing; send it as Authorization: Bearer KEY, or as X-Api-Key: KEY.'
          : 'The API key is malformed, unknown, expired or revoked; send a valid one as Authorization: Bearer KEY, or as X-Api-Key: KEY.',
      ),
  };
}

/** The MCP server at `/mcp` (Streamable HTTP, without sessions): the keys, limits and presets of the API, as tools. */
export async function addMcp(
  app: FastifyInstance,
  { guardBy, context }: { guardBy: (credential: Credential) => Guard; context: Context },
): Promise<void> {
  const getHandler = lazy(() => makeHandler((error) => app.log.debug({ err: error }, 'a message of MCP was rejected')));
  await app.register(async (mcp) => {
    mcp.addHook('onRequest', (_request, reply, done) => {
      reply.cacheControl('no-store');
      done();
    });
    mcp.addHook('onRequest', guardBy(mcpKeys(context.catalogCache)));
    mcp.removeAllContentTypeParsers();
    mcp.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BODY }, (_request, body, done) => {
      done(null, body);
    });
    mcp.setErrorHandler((error: Error & { code?: string }, _request, _reply) => {
      if (error.code?.startsWith('FST_ERR_CTP')) throw invalidRequest(`A message has at most ${MAX_BODY} bytes.`);
      throw error;
    });
    mcp.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/mcp',
      schema: { hide: true },
      handler: async (request, reply) => {
        const { fetch } = await getHandler();
        const response = await fetch(webRequest(request), { authInfo: authInfo(request, context) });
        const type = response.headers.get('content-type');
        if (type !== null) reply.type(type);
        const allow = response.headers.get('allow');
        if (allow !== null) reply.header('allow', allow);
        return reply.code(response.status).send(await response.text());
      },
    });
  });
}

function webRequest({ method, headers, body, signal }: FastifyRequest): Request {
  const kept = HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  const init = { method, headers: kept, signal };
  // Parsers pass bodies on as text. The package reads no paths.
  const text = typeof body === 'string' ? body : '';
  return new Request('http://ordinate.invalid/mcp', method === 'POST' ? { ...init, body: text } : init);
}

/** The package passes this to the server that it creates for the request. */
function authInfo(request: FastifyRequest, context: Context) {
  const { workspace, id, projects } = request.principal!;
  const toKnown = (error: unknown): KnownError => logError(error, request);
  const mcpRequest: McpRequest = { context, workspace, projects, reader: id, signal: request.signal, toKnown };
  return { token: '', clientId: id, scopes: [], extra: { request: mcpRequest } };
}
