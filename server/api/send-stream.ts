import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SharedConcurrencyLimit } from '../runtime/limits.ts';
import { AnswerOrder } from './answer-order.ts';

const order = new AnswerOrder(() => performance.now());

/** What is sent: its headers, with its type, and its bytes. */
export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncGenerator<Buffer, void>;
}

/**
 * Answers with text that is made while it is sent, no faster than the client takes it. An error before the first bytes
 * becomes an error answer; one after them breaks the connection, so that no client takes a part for the whole. `places`
 * bounds how many are under way, in all and for one workspace, and so the memory that they take.
 */
export async function sendStream(
  request: FastifyRequest,
  reply: FastifyReply,
  places: SharedConcurrencyLimit | undefined,
  make: (signal: AbortSignal) => Promise<StreamedAnswer>,
): Promise<FastifyReply> {
  const { signal } = request;
  const leave = await places?.enter(request.principal?.workspace ?? '', signal);
  // Whatever becomes of the answer, the place is free when the connection is done with it.
  if (leave !== undefined) reply.raw.once('close', leave);
  let answer: StreamedAnswer | undefined;
  let first: IteratorResult<Buffer, void>;
  try {
    signal.throwIfAborted();
    answer = await make(signal);
    first = await answer.body.next();
    // An answer that came too late has been given already.
    signal.throwIfAborted();
  } catch (error) {
    leave?.();
    await answer?.body.return();
    throw error;
  }
  // A short answer goes before all long ones.
  const started = places === undefined ? 0 : performance.now();
  const parts = rest(request, started, first, answer.body);
  // Only now: an error answer has none of them.
  return reply.headers(answer.headers).send(Readable.from(parts, { objectMode: false }));
}

/** Hands the parts of an answer on. While the next one is made, the service's own time runs. */
async function* rest(
  request: FastifyRequest,
  started: number,
  first: IteratorResult<Buffer, void>,
  body: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer> {
  const { deadline, signal } = request;
  try {
    for (let part = first; part.done !== true; ) {
      yield part.value;
      await order.take(started);
      signal.throwIfAborted();
      deadline?.start();
      part = await body.next();
      signal.throwIfAborted();
      deadline?.pause();
    }
  } catch (error) {
    if (!signal.aborted) {
      request.log.error({ id: request.id, err: error }, 'a long answer broke off');
      deadline?.end('failed');
    }
    throw error;
  } finally {
    deadline?.pause();
    await body.return(undefined);
  }
}
