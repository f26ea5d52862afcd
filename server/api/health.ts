import type { FastifyInstance } from 'fastify';
import { stopping } from '../domain/errors.ts';
import type { Health } from './readiness.ts';

/**
 * `/livez`: the process answers. `/readyz`: it is prepared, and can answer something; reports which components work and the
 * state of the response cache (see `Health`). Neither needs a key.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { health, cache }: { readonly health: Health; readonly cache: { readonly state: object } },
): void {
  app.get('/livez', { schema: { hide: true } }, (_request, reply) => {
    reply.cacheControl('no-store');
    return { status: 'ok' };
  });
  app.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    reply.cacheControl('no-store');
    if (app.isStopping()) throw stopping();
    await app.prepared();
    const { status, components, problems } = await health.check();
    return { status, components, ...(status === 'degraded' && { problems }), answers: cache.state };
  });
}
