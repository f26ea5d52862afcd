import { writeSync } from 'node:fs';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from 'fastify';
import { destination, stdSerializers } from 'pino';
import '../principal.ts';
import { redact, redactAddress } from './redact.ts';

type LogStream = ReturnType<typeof destination>;

/** Pauses while the reader of the log is slow, and how many of them a process that ends takes. */
const PAUSE = 10;
const MAX_PAUSES = 100;

/** Opens standard error, buffered, because every response is logged. */
export function openLog({ isShared = false } = {}): LogStream {
  const common = { dest: 2, sync: false, periodicFlush: 500 };
  // Up to 4096 bytes are written to a pipe at once, so that lines of several processes are not mixed.
  const stream = destination(
    isShared ? { ...common, minLength: 3000, maxWrite: 4096 } : { ...common, minLength: 16_000 },
  );
  // That of the package tries without end when the reader has exited, so that the process never does.
  stream.flushSync = () => writeRest(stream);
  return stream;
}

/** Writes what is buffered, before the process ends. Gives up when nobody reads. */
function writeRest(stream: LogStream): void {
  const parts = stream as unknown as { _bufs: string[]; _writing: boolean; _writingBuf: string };
  let rest = Buffer.from((parts._writing ? '' : parts._writingBuf) + parts._bufs.splice(0).join(''));
  for (let pauses = 0; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(2, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || pauses === MAX_PAUSES) return;
      pauses += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
    }
  }
}

/** Log options of the server: JSON lines with possible keys redacted. */
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
        // Clients may send keys in the URL by mistake.
        url: redactAddress(request.url),
        address: request.ip,
      }),
      err: serializeError,
    },
  };
}

/** Serializes an error with possible keys redacted: framework messages contain URLs. */
export function serializeError(error: Error): ReturnType<typeof stdSerializers.err> {
  const { message, stack, ...rest } = stdSerializers.err(error);
  return { ...rest, message: redact(message), stack: redact(stack) };
}

/** A request whose response has ended. */
export interface Answered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Milliseconds since the request arrived. */
  readonly ms: number;
  /** False if the connection ended before the response did. */
  readonly isComplete: boolean;
}

export type OnAnswered = (answered: Answered) => void;

/**
 * Logs a request when its response ends, including incomplete responses. Writes one flat line with the server's logger, for
 * speed.
 */
export function logAnswer(
  log: FastifyBaseLogger,
  request: FastifyRequest,
  reply: FastifyReply,
  onAnswered?: OnAnswered,
): void {
  const { raw } = reply;
  const start = performance.now();
  // Closed connections no longer have the address.
  const { id, method, ip: address } = request;
  let isComplete = false;
  raw.once('finish', () => {
    isComplete = true;
  });
  raw.once('close', () => {
    const exact = performance.now() - start;
    const ms = Math.round(exact * 10) / 10;
    const url = redactAddress(request.url);
    const { principal } = request;
    const session = principal?.via === 'share' ? 'share' : 'session';
    const who = principal?.keyId === null ? { [session]: principal.id } : { key: principal?.keyId };
    const line = { id, method, url, address, status: raw.headersSent ? raw.statusCode : null, ms, ...who };
    if (isComplete) log.info(line, 'answered');
    else log.info({ ...line, cut: request.deadline?.cut ?? 'client gone' }, 'not answered whole');
    onAnswered?.({ request, reply, ms: exact, isComplete });
  });
}

/** Logs each request when its response ends. */
export function addAnswerLog(app: FastifyInstance, onAnswered?: OnAnswered): void {
  app.addHook('onRequest', (request, reply, done) => {
    logAnswer(app.log, request, reply, onAnswered);
    done();
  });
}
