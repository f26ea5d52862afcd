import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { destination, stdSerializers } from 'pino';
import '../principal.ts';
import { redact, redactAddress } from './redact.ts';

/** Where the server logs: standard error, some kilobytes at a time; a line for each answer must cost little. */
export function openLog(): ReturnType<typeof destination> {
  return destination({ dest: 2, sync: false, minLength: 16_000, periodicFlush: 500 });
}

/** Log settings of the server: JSON lines, without anything that could be a key. */
export function logOptions(
  level: string,
  stream: { write(line: string): void },
): NonNullable<FastifyServerOptions['logger']> {
  return {
    level,
    stream,
    serializers: {
      req: (request: FastifyRequest) => ({
        id: request.id,
        method: request.method,
        // Keys do not belong into an address, but some will be sent there.
        url: redactAddress(request.url),
        address: request.ip,
      }),
      err: serializeError,
    },
  };
}

/** An error as it is logged; messages of the framework repeat addresses. */
export function serializeError(error: Error): ReturnType<typeof stdSerializers.err> {
  const { message, stack, ...rest } = stdSerializers.err(error);
  return { ...rest, message: redact(message), stack: redact(stack) };
}

/**
 * Writes the line of a request when its connection is done with it: also when its client has gone, or was sent a part
 * of its answer only. One flat line by the server's own logger: this is on the path of every answer.
 */
export function logAnswer(log: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const start = performance.now();
  // Closed connections have lost it.
  const { id, method, ip: address } = request;
  let isWhole = false;
  raw.once('finish', () => {
    isWhole = true;
  });
  raw.once('close', () => {
    const ms = Math.round((performance.now() - start) * 10) / 10;
    const url = redactAddress(request.url);
    const { principal } = request;
    const who = principal?.keyId === null ? { session: principal.id } : { key: principal?.keyId };
    const line = { id, method, url, address, status: raw.headersSent ? raw.statusCode : null, ms, ...who };
    if (isWhole) log.info(line, 'answered');
    else log.info({ ...line, cut: request.deadline?.cut ?? 'client gone' }, 'not answered whole');
  });
}

/** Logs each request when its connection is done with it. */
export function addAnswerLog(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    logAnswer(app.log, request, reply);
    done();
  });
}
