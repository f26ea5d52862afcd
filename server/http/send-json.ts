import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers with JSON that is made while it is sent, no faster than the client takes it. An error before the first byte
 * becomes an error answer; one after it breaks the connection, so that no client takes a part for the whole.
 */
export async function sendJson(
  request: FastifyRequest,
  reply: FastifyReply,
  body: AsyncGenerator<Buffer>,
): Promise<FastifyReply> {
  const first = await body.next();
  reply.type('application/json; charset=utf-8');
  if (first.done) return reply.send('');
  const second = await body.next();
  if (second.done) return reply.send(first.value);
  return reply.send(Readable.from(resume([first.value, second.value], body, request.signal), { objectMode: false }));
}

async function* resume(
  begun: readonly Buffer[],
  body: AsyncGenerator<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    yield* begun;
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
