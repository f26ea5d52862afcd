import type { FastifyRequest, FastifyServerOptions } from 'fastify';
import { destination } from 'pino';

/** Where the server logs: standard error, some kilobytes at a time; a line for each answer must cost little. */
export function openLog(): ReturnType<typeof destination> {
  return destination({ dest: 2, sync: false, minLength: 16_000, periodicFlush: 500 });
}

const KEYS = /ord_live_[A-Za-z0-9]*/g;

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
        url: withoutKeys(request.url),
        address: request.ip,
      }),
    },
  };
}

/** An address with anything that could be a key masked, percent-encoded or not. */
export function withoutKeys(url: string): string {
  // Most addresses have nothing that could be one.
  if (!/ord_|%/i.test(url)) return url;
  try {
    let decoded = url;
    // Encoded once more than once: until there is nothing to decode.
    for (let before = ''; decoded !== before; ) {
      before = decoded;
      decoded = decodeURIComponent(decoded);
    }
    return decoded.includes('ord_live_') ? decoded.replaceAll(KEYS, 'ord_live_…') : url;
  } catch {
    // What cannot be decoded is not worth a risk.
    return url.split('?', 1)[0]!.slice(0, 40);
  }
}
