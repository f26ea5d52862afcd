import type { FastifyInstance } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { unavailable } from '../domain/errors.ts';
import type { Engine } from '../facts/engine.ts';

/** `/livez`: the process answers. `/readyz`: the catalog and DuckDB answer too. Both without a key. */
export function addHealthRoutes(app: FastifyInstance, { catalog, engine }: { catalog: Catalog; engine: Engine }): void {
  app.get('/livez', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async (request) => {
    try {
      catalog.get('ping');
      await engine.query('facts/ping', {}, request.signal);
    } catch (error) {
      throw unavailable('The service is not ready: its catalog or its query engine does not answer.', error);
    }
    return { status: 'ok' };
  });
}
