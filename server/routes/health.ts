import type { FastifyInstance } from 'fastify';
import type { AnswerCache } from '../http/answer-cache.ts';
import { checkReadiness, type Readiness } from './readiness.ts';

/**
 * `/livez`: the process answers. `/readyz`: it can answer questions, too, and write (see `checkReadiness`); it tells how
 * the kept answers do. Both without a key.
 */
export function addHealthRoutes(
  app: FastifyInstance,
  { answers, ...ready }: Readiness & { answers: AnswerCache },
): void {
  app.get('/livez', { schema: { hide: true } }, (_request, reply) => {
    reply.cacheControl('no-store');
    return { status: 'ok' };
  });
  app.get('/readyz', { schema: { hide: true } }, async (request, reply) => {
    reply.cacheControl('no-store');
    await checkReadiness(ready, request.signal);
    return { status: 'ok', answers: answers.state };
  });
}
