import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SharedConcurrencyLimit } from '../../runtime/limits.ts';
import { StreamScheduler } from '../../runtime/stream-scheduler.ts';

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Streams a response, no faster than the client reads it. An error before the first bytes becomes an error response; a
     * later one destroys the connection, so that the client notices the incomplete response.
     * @param limit bounds concurrent responses, and so their memory, in total and per workspace
     */
    sendStream: (
      limit: SharedConcurrencyLimit | undefined,
      make: (signal: AbortSignal) => Promise<StreamedAnswer>,
    ) => Promise<FastifyReply>;
  }
}

/** Adds `sendStream` to replies. The streams of a server take turns. */
export function addStreams(app: FastifyInstance): void {
  const scheduler = new StreamScheduler(() => performance.now());
  app.decorateReply('sendStream', function (this: FastifyReply, limit, make) {
    return sendStream(this, limit, make, scheduler);
  });
}

/** The headers, including the content type, and the body of a response. */
export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncGenerator<Buffer, void>;
}

async function sendStream(
  reply: FastifyReply,
  limit: SharedConcurrencyLimit | undefined,
  make: (signal: AbortSignal) => Promise<StreamedAnswer>,
  scheduler: StreamScheduler,
): Promise<FastifyReply> {
  const { request } = reply;
  const { signal } = request;
  const leave = await limit?.enter(request.principal?.workspace ?? '', signal);
  // The slot is released when the connection ends, also after failures.
  if (leave !== undefined) reply.raw.once('close', leave);
  let answer: StreamedAnswer | undefined;
  let first: IteratorResult<Buffer, void>;
  try {
    signal.throwIfAborted();
    answer = await make(signal);
    first = await answer.body.next();
    // After the deadline an error response has already been sent.
    signal.throwIfAborted();
  } catch (error) {
    leave?.();
    await answer?.body.return();
    throw error;
  }
  // Short responses take precedence over long ones.
  const started = limit === undefined ? 0 : performance.now();
  const parts = rest(request, () => scheduler.take(started), first, answer.body);
  // Set last, because an error response must not have them.
  return reply.headers(answer.headers).send(Readable.from(parts, { objectMode: false }));
}

/** Yields the parts of a response, each in its turn. The service's time limit runs while the next part is computed. */
async function* rest(
  request: FastifyRequest,
  turn: () => Promise<void>,
  first: IteratorResult<Buffer, void>,
  body: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer> {
  const { deadline, signal } = request;
  try {
    for (let part = first; part.done !== true; ) {
      yield part.value;
      await turn();
      signal.throwIfAborted();
      deadline?.start();
      part = await body.next();
      signal.throwIfAborted();
      deadline?.pause();
    }
  } catch (error) {
    if (!signal.aborted) {
      request.log.error({ id: request.id, err: error }, 'a streamed response failed');
      deadline?.end('failed');
    }
    throw error;
  } finally {
    deadline?.pause();
    await body.return(undefined);
  }
}
