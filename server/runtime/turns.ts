import { Search, SMALL_COST, type Steps as Work } from '../domain/expressions.ts';
import { findHere, findInThread } from './search-threads.ts';

/** Max steps and milliseconds of work in one turn of the event loop, whichever comes first. */
const MAX_STEPS = 1000;
const MAX_MS = 3;

interface Steps {
  readonly steps: Work<unknown>;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The answer to the search that the last step asked for. */
  found?: Uint8Array | undefined;
}

/** All long work of the process; the first item runs next. */
const queue: Steps[] = [];
let isRunning = false;

/**
 * Runs long work in small steps, so that the event loop serves other requests in between. The work yields after each
 * step, which should take well under a millisecond. All long work shares a few milliseconds of each turn of the event
 * loop, in rotation. Searches that may take longer run in a thread. Work whose signal is aborted ends with its reason.
 */
export function inTurns<T>(steps: Work<T>, signal?: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  enqueue({ steps, signal, resolve: resolve as Steps['resolve'], reject });
  return promise;
}

function enqueue(work: Steps): void {
  queue.push(work);
  if (isRunning) return;
  isRunning = true;
  setImmediate(runTurn);
}

function runTurn(): void {
  const deadline = performance.now() + MAX_MS;
  let left = MAX_STEPS;
  const isOver = (): boolean => --left <= 0 || performance.now() > deadline;
  for (;;) {
    const work = queue.shift();
    if (work === undefined) {
      isRunning = false;
      return;
    }
    if (runUntil(work, isOver) === 'over') {
      queue.push(work);
      setImmediate(runTurn);
      return;
    }
  }
}

/** Runs work to its end, until it waits for a thread, or until its part of the turn is over. */
function runUntil(work: Steps, isOver: () => boolean): 'ended' | 'waits' | 'over' {
  const { steps, signal, resolve, reject } = work;
  try {
    signal?.throwIfAborted();
    do {
      const { done, value } = steps.next(work.found);
      work.found = undefined;
      if (done === true) {
        resolve(value);
        return 'ended';
      }
      if (value instanceof Search) {
        if (value.cost > SMALL_COST) {
          findInThread(value).then((found) => enqueue(Object.assign(work, { found })), reject);
          return 'waits';
        }
        work.found = findHere(value);
        return 'over';
      }
    } while (!isOver());
    return 'over';
  } catch (error) {
    reject(error);
    return 'ended';
  }
}

/** Rows that are read already, for code that reads them in batches. */
export async function* inOneBatch<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
