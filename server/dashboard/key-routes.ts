import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { sendError } from '../api/plugins/errors.ts';
import type { Context } from '../api/routes/context.ts';
import { createKey, KeyRefused, listKeys, revokeKey } from '../catalog/keys.ts';
import type { Usage } from '../catalog/usage.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../domain/instants.ts';

/** A name is a line of text. */
const MAX_NAME = 100;
const MAX_BODY = 4096;

/** `/app/api/keys`: owners list, create and revoke the keys of their workspace. */
export function addKeyRoutes(api: FastifyInstance, { context, usage }: { context: Context; usage: Usage }): void {
  const { catalog, now } = context;
  api.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: MAX_BODY }, (_request, body, done) => {
    try {
      done(null, JSON.parse(String(body)));
    } catch {
      done(invalidRequest('The body must be JSON.'));
    }
  });

  api.setErrorHandler<FastifyError>((error, request, reply) => {
    const isTooLong = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    return sendError(isTooLong ? invalidRequest(`The body is longer than ${MAX_BODY} bytes.`) : error, request, reply);
  });

  api.get('/keys', { schema: { hide: true } }, async (request) => {
    const { workspace } = ownerOf(request);
    const keys = await listKeys(catalog, usage, workspace);
    return {
      keys: keys.map(({ createdAt, expiresAt, lastUsedAt, revokedAt, ...key }) => ({
        ...key,
        createdAt: isoInstant(createdAt),
        expiresAt: isoInstantOrNull(expiresAt),
        lastUsedAt: isoInstantOrNull(lastUsedAt),
        revokedAt: isoInstantOrNull(revokedAt),
      })),
    };
  });

  api.post('/keys', { schema: { hide: true } }, async (request) => {
    const { workspace, by } = ownerOf(request);
    const name = readName(request.body);
    const { createdAt, expiresAt, ...made } = await orRefuse(
      createKey(catalog, { workspace, name, by, at: toMicroseconds(now()) }),
    );
    return { ...made, createdAt: isoInstant(createdAt), expiresAt: isoInstantOrNull(expiresAt) };
  });

  api.delete<{ Params: { id: string } }>('/keys/:id', { schema: { hide: true } }, async (request, reply) => {
    const { workspace, by } = ownerOf(request);
    await orRefuse(revokeKey(catalog, { id: request.params.id, workspace, by, at: toMicroseconds(now()) }));
    return reply.code(204).send();
  });
}

function ownerOf({ principal }: FastifyRequest): { workspace: string; by: string } {
  const { workspace, owner } = principal!;
  if (owner === null) {
    throw new KnownError('forbidden', 'Only an owner manages keys: sign in by a link of `ordinate login`.');
  }
  return { workspace, by: owner };
}

function readName(body: unknown): string {
  const name = typeof body === 'object' && body !== null && 'name' in body ? body.name : undefined;
  if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME) {
    throw invalidRequest(`'name' must be a text of 1 to ${MAX_NAME} characters that says what the key is for.`);
  }
  return name.trim();
}

async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyRefused) throw invalidRequest(error.message);
    throw error;
  }
}
