import type { FastifyInstance } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { unavailable } from '../domain/errors.ts';
import type { Engine } from '../facts/engine.ts';
import type { AnswerCache } from '../http/answer-cache.ts';

/**
 * `/livez`: the process answers. `/readyz`: the catalog and DuckDB answer too; it tells how the kept answers do. Both
 * without a key.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { catalog, engine, answers }: { catalog: Catalog; engine: Engine; answers: AnswerCache },
): void {
  app.get('/livez', { schema: { hide: true } }, () => ({ status: 'ok' }));
  app.get('/readyz', { schema: { hide: true } }, async (request) => {
    try {
      catalog.check();
      catalog.get('ping');
      catalog.version();
      await engine.query('facts/ping', {}, request.signal);
    } catch (error) {
      throw unavailable('The service is not ready: its catalog or its query engine does not answer.', error);
    }
    return { status: 'ok', answers: answers.state };
  });
}
