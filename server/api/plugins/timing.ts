import type { FastifyInstance } from 'fastify';
import { Stages, type StageTimes } from '../../runtime/timing.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set for requests that have passed the guard. */
    stages: Stages | null;
  }
}

/** Callback for each response: route path, status, and milliseconds by stage. */
export type OnStages = (route: string, status: number, stages: StageTimes) => void;

/** Measures the stages of each request, for the `Server-Timing` header and the metrics hook. */
export function addTiming(api: FastifyInstance, onStages: OnStages | undefined): void {
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
  if (onStages === undefined) return;
  api.addHook('onResponse', ({ routeOptions, stages }, reply, done) => {
    if (stages !== null) onStages(routeOptions.url ?? '', reply.statusCode, stages.times);
    done();
  });
}
