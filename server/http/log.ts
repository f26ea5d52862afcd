import type { FastifyRequest, FastifyServerOptions } from 'fastify';

const KEYS = /ord_live_[A-Za-z0-9]*/g;

/** Log settings of the server: JSON lines, without anything that could be a key. */
export function logOptions(
  level: string,
  stream: { write(line: string): void } = process.stderr,
): NonNullable<FastifyServerOptions['logger']> {
  return {
    level,
    stream,
    serializers: {
      req: (request: FastifyRequest) => ({
        id: request.id,
        method: request.method,
        // Keys do not belong into an address, but some will be sent there.
        url: request.url.replaceAll(KEYS, 'ord_live_…'),
        address: request.ip,
      }),
    },
  };
}
