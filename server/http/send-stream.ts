import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gate } from '../gate.ts';

/**
 * Answers with JSON that is made while it is sent, no faster than the client takes it. An error before the first bytes
 * becomes an error answer; one after them breaks the connection, so that no client takes a part for the whole. `gate`
 * bounds how many are under way, and so the memory that they take.
 */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: Gate,
  make: (signal: AbortSignal) => Promise<AsyncGenerator<Buffer, void>>,
): Promise<FastifyReply> {
  const { signal } = request;
  const leave = await gate.enter(signal);
  let stream: Readable;
  try {
    const body = await make(signal);
    const first = await body.next();
    stream = Readable.from(rest(first.done ? undefined : first.value, body, signal), { objectMode: false });
    stream.once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
  return reply.type('application/json; charset=utf-8').send(stream);
}

async function* rest(
  first: Buffer | undefined,
  body: AsyncGenerator<Buffer, void>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    if (first !== undefined) yield first;
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
