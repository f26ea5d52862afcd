import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers with JSON that is made while it is sent, no faster than the client takes it. An error before the first bytes
 * becomes an error answer; one after them breaks the connection, so that no client takes a part for the whole.
 */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  make: (signal: AbortSignal) => Promise<AsyncGenerator<Buffer>>,
): Promise<FastifyReply> {
  const { signal } = request;
  const body = await make(signal);
  const first = await body.next();
  reply.type('application/json; charset=utf-8');
  if (first.done) return reply.send('');
  return reply.send(Readable.from(rest(first.value, body, signal), { objectMode: false }));
}

async function* rest(first: Buffer, body: AsyncGenerator<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield first;
    for await (const part of body) {
      signal.throwIfAborted();
      yield part;
      // Others get their turn between two parts.
      await new Promise(setImmediate);
    }
  } finally {
    await body.return(undefined);
  }
}
