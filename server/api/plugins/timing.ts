import type { FastifyInstance } from 'fastify';
import { Stages } from '../../runtime/timing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that have passed the guard. */
    stages: Stages | null;
  }
}

/** Measures the stages of each request, for the `Server-Timing` header and the metrics. */
export function addTiming(api: FastifyInstance): void {
  api.decorateRequest('stages', null);
  api.addHook('onRequest', (request, _reply, done) => {
    request.stages = new Stages();
    done();
  });
  api.addHook('onSend', ({ stages }, reply, _answer, done) => {
    const header = stages?.header ?? '';
    if (header !== '') reply.header('server-timing', header);
    done();
  });
}
