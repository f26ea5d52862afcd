import type { FastifyInstance } from 'fastify';
import { stopping } from '../domain/errors.ts';
import { checkReadiness, type Readiness } from './readiness.ts';

/**
 * `/livez`: the process answers. `/readyz`: it is prepared, and can answer queries and write (see `checkReadiness`); reports
 * the states of its components and of the response cache. Neither needs a key.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { cache, ...ready }: Readiness & { readonly cache: { readonly state: object } },
): void {
  app.get('/livez', { schema: { hide: true } }, (_request, reply) => {
    reply.cacheControl('no-store');
    return { status: 'ok' };
  });
  app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
    reply.cacheControl('no-store');
    if (app.isStopping()) throw stopping();
    await app.prepared();
    const components = await checkReadiness(ready, request.signal);
    return { status: 'ok', components, answers: cache.state };
  });
}
