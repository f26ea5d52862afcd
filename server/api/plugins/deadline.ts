import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../../domain/errors.ts';

/** In milliseconds. */
export interface TimeLimits {
  /** How long the service may take to begin an answer, and to go on with one it has begun. */
  readonly progress: number;
  /** How long a client may take nothing of an answer. */
  readonly stalled: number;
}

/** Why an answer ended early, for the log. */
type Cut = 'time limit' | 'client stalled' | 'failed';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests that no route or hook ever saw. */
    deadline: Deadline | null;
  }
}

/**
 * Ends a request that makes no progress. How long a whole answer takes does not matter: a slow client may read a long
 * one for hours. Until it begins, and whenever more of it is awaited, the service must come up with something in time;
 * and what it has sent must be taken in time.
 */
class Deadline {
  /** Set when the service ended the answer before it was whole. */
  cut: Cut | undefined;
  readonly #stop = new AbortController();
  readonly #reply: FastifyReply;
  readonly #limits: TimeLimits;
  #timer: NodeJS.Timeout | undefined;

  constructor(reply: FastifyReply, limits: TimeLimits) {
    this.#reply = reply;
    this.#limits = limits;
    let isFinished = false;
    reply.raw.once('finish', () => {
      isFinished = true;
    });
    reply.raw.once('close', () => {
      this.pause();
      if (!isFinished) this.#stop.abort(new Error('The client has gone.'));
    });
  }

  /** Aborted when the client has gone or time is up. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** From now on the client waits for the service. */
  start(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), this.#limits.progress);
  }

  /** The service has something to send. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** From now on the client must take what it is sent. */
  watchClient(): void {
    const { raw } = this.#reply;
    const { socket } = raw;
    // Requests that are injected have none.
    if (!(socket instanceof Socket)) return;
    const { stalled } = this.#limits;
    // Node notices progress by what the kernel has taken, also in the middle of a large buffer.
    raw.setTimeout(stalled, () => {
      if (raw.writableLength > 0) this.end('client stalled');
      else socket.setTimeout(stalled);
    });
  }

  /** Breaks the connection, so that no client takes a part of an answer for the whole. */
  end(cut: Cut): void {
    this.cut ??= cut;
    this.#reply.raw.destroy();
  }

  #expire(): void {
    const error = unavailable(
      'The answer took longer than the service allows; ask for a shorter range or try again later.',
    );
    this.#stop.abort(error);
    if (this.#reply.raw.headersSent) this.end('time limit');
    else if (!this.#reply.sent) this.#reply.send(error);
  }
}

/** Gives every request a deadline. Its signal takes the place of Fastify's own, which would cut long answers. */
export function addDeadlines(app: FastifyInstance, limits: TimeLimits): void {
  app.decorateRequest('deadline', null);
  app.addHook('onRequest', (request: FastifyRequest, reply, done) => {
    const deadline = new Deadline(reply, limits);
    request.deadline = deadline;
    Object.defineProperty(request, 'signal', { value: deadline.signal });
    deadline.start();
    done();
  });
  app.addHook('onSend', ({ deadline }, _reply, _answer, done) => {
    deadline?.pause();
    deadline?.watchClient();
    done();
  });
}
