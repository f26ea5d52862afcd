import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyedGate } from '../gate.ts';

/** A client that takes nothing of its answer for so long makes room for others, in milliseconds. */
const STALLED = 30_000;
const NOTHING_TAKEN = 'the client takes nothing of its answer';

/**
 * Answers with JSON that is made while it is sent, no faster than the client takes it. An error before the first bytes
 * becomes an error answer; one after them breaks the connection, so that no client takes a part for the whole. `gate`
 * bounds how many are under way, in all and for one key, and so the memory that they take.
 */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  gate: KeyedGate,
  make: (signal: AbortSignal) => Promise<AsyncGenerator<Buffer, void>>,
): Promise<FastifyReply> {
  const { signal } = request;
  const leave = await gate.enter(request.access?.keyId ?? '', signal);
  // Whatever becomes of the answer, the place is free when the connection is done with it.
  void once(reply.raw, 'close').then(leave, leave);
  let body: AsyncGenerator<Buffer, void> | undefined;
  let stream: Readable;
  try {
    body = await make(signal);
    const first = await body.next();
    // An answer that came too late has been given already.
    signal.throwIfAborted();
    const parts = rest(first.done ? undefined : first.value, body, signal);
    stream = Readable.from(
      unlessStalled(parts, () => stream.destroy(new Error(NOTHING_TAKEN))),
      {
        objectMode: false,
      },
    );
  } catch (error) {
    leave();
    await body?.return();
    throw error;
  }
  return reply.type('application/json; charset=utf-8').send(stream);
}

/** Hands parts on; `giveUp` is called when the next one is not asked for in time. */
async function* unlessStalled(parts: AsyncGenerator<Buffer>, giveUp: () => void): AsyncGenerator<Buffer> {
  for await (const part of parts) {
    const timer = setTimeout(giveUp, STALLED);
    try {
      yield part;
    } finally {
      clearTimeout(timer);
    }
  }
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
