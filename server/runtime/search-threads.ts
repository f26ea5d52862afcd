import { Worker } from 'node:worker_threads';
import { type KnownError, unavailable } from '../domain/errors.ts';
import { compileExpression, type Expression, type Search } from '../domain/expressions.ts';

/** Each takes a processor when several expensive searches run at once. */
const MAX_THREADS = 2;
/** The longest text and the largest expression that is allowed take about two seconds. */
const MAX_MS = 10_000;

interface Waiting {
  readonly search: Search;
  readonly resolve: (found: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

const waiting: Waiting[] = [];
const idle: Worker[] = [];
let threads = 0;

const compiled = new WeakMap<Expression, (text: string) => boolean>();

/** Searches in this thread. Work that searches again passes the same expression. */
export function findHere({ expression, texts }: Search): Uint8Array {
  const isFound = compiled.get(expression) ?? compileExpression(expression);
  compiled.set(expression, isFound);
  return Uint8Array.from(texts, (text) => Number(isFound(text)));
}

/** Searches in another thread, as soon as one is free: in the order of the calls. */
export function findInThread(search: Search): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  waiting.push({ search, resolve, reject });
  runNext();
  return promise;
}

function runNext(): void {
  if (waiting.length === 0) return;
  const thread = idle.pop() ?? (threads < MAX_THREADS ? startThread() : undefined);
  if (thread !== undefined) run(thread, waiting.shift()!);
}

function startThread(): Worker {
  threads++;
  const thread = new Worker(new URL('./search-thread.ts', import.meta.url), { name: 'searches' });
  thread.on('exit', () => {
    threads--;
    if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
    runNext();
  });
  return thread;
}

function run(thread: Worker, { search, resolve, reject }: Waiting): void {
  const { expression, texts } = search;
  const end = (): void => {
    clearTimeout(timer);
    thread.removeAllListeners('message').removeAllListeners('error');
  };
  const fail = (error: unknown): void => {
    end();
    reject(error);
    void thread.terminate();
  };
  const timer = setTimeout(() => fail(tooLong(expression)), MAX_MS);
  thread.ref();
  thread.once('error', fail);
  thread.once('message', (found: Uint8Array) => {
    end();
    // A process that waits for nothing else may end.
    thread.unref();
    idle.push(thread);
    resolve(found);
    runNext();
  });
  thread.postMessage({ expression, texts });
}

function tooLong({ text }: Expression): KnownError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return unavailable(
    `The expression ${JSON.stringify(shown)} takes too long; use one with smaller counts or fewer parts.`,
    'time-limit',
  );
}
