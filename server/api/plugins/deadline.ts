import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unavailable } from '../../domain/errors.ts';

/** In milliseconds. */
export interface TimeLimits {
  /** The longest time until the first bytes of a response, and until each next part. */
  readonly progress: number;
  /** The longest time that a client may read nothing of a response. */
  readonly stalled: number;
}

/** Why a response ended early, for the log. */
type Cut = 'time limit' | 'client stalled' | 'failed';

/** Why a response is incomplete: the service ended it, or the client left. */
export const INCOMPLETE: readonly (Cut | 'client gone')[] = ['time limit', 'client stalled', 'failed', 'client gone'];

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for requests that reached no hook. */
    deadline: Deadline | null;
  }
}

/**
 * Ends a request without progress. The total time of a response is not limited: a slow client may read a long one for
 * hours. The service must produce each part in time, and the client must read it in time.
 */
class Deadline {
  /** Set when the service ends an incomplete response. */
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
      if (!isFinished) this.#stop.abort(new Error('The client has disconnected.'));
      // Stops other reads of the same request.
      else if (reply.statusCode >= 500) this.#stop.abort(new Error('The request has failed.'));
    });
  }

  /** Aborted when the client disconnects, the time limit is reached, or the request has failed. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Starts the time limit of the service. */
  start(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#expire(), this.#limits.progress);
  }

  /** Stops the time limit of the service. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Starts the time limit of the client. */
  watchClient(): void {
    const { raw } = this.#reply;
    const { socket } = raw;
    // Injected requests have no socket.
    if (!(socket instanceof Socket)) return;
    const { stalled } = this.#limits;
    // The timeout resets when the kernel accepts bytes, also within a large buffer.
    raw.setTimeout(stalled, () => {
      if (raw.writableLength > 0) this.end('client stalled');
      else socket.setTimeout(stalled);
    });
  }

  /** Destroys the connection, so that the client does not treat an incomplete response as complete. */
  end(cut: Cut): void {
    this.cut ??= cut;
    this.#reply.raw.destroy();
  }

  #expire(): void {
    const error = unavailable('The response took too long; request a shorter range or try again later.', 'time-limit');
    this.#stop.abort(error);
    if (this.#reply.raw.headersSent) this.end('time limit');
    else if (!this.#reply.sent) this.#reply.send(error);
  }
}

/** Adds a deadline to every request. Its signal replaces Fastify's, which would abort long responses. */
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
