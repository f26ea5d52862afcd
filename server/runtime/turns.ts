/** Max steps and milliseconds of work in one turn of the event loop, whichever comes first. */
const MAX_STEPS = 1000;
const MAX_MS = 3;

interface Steps {
  readonly steps: Generator<void, unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** All long work of the process; the first item runs next. */
const queue: Steps[] = [];
let isRunning = false;

/**
 * Runs long work in small steps, so that the event loop serves other requests in between. The work yields after each
 * step, which should take well under a millisecond. All long work shares a few milliseconds of each turn of the event
 * loop, in rotation.
 */
export function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  queue.push({ steps, resolve: resolve as Steps['resolve'], reject });
  if (!isRunning) {
    isRunning = true;
    setImmediate(runTurn);
  }
  return promise;
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
    if (!runUntil(work, isOver)) {
      queue.push(work);
      setImmediate(runTurn);
      return;
    }
  }
}

/** Runs work to its end, or until `isOver` returns true after a step. Returns whether it has ended. */
function runUntil({ steps, resolve, reject }: Steps, isOver: () => boolean): boolean {
  try {
    do {
      const { done, value } = steps.next();
      if (done === true) {
        resolve(value);
        return true;
      }
    } while (!isOver());
    return false;
  } catch (error) {
    reject(error);
    return true;
  }
}

/** Rows that are read already, for code that reads them in batches. */
export async function* inOneBatch<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows;
}
