/** Steps, and milliseconds, after which the event loop turns, whichever comes first. */
const MAX_STEPS = 1000;
const MAX_MS = 3;

interface Work {
  readonly steps: Generator<void, unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** All long work of the process, the next one first. */
const queue: Work[] = [];
let isRunning = false;

/**
 * Runs long work step by step and lets the event loop turn in between, so that other requests are answered meanwhile.
 * The work yields after each step, which should take well under a millisecond. All of it together gets a few
 * milliseconds of each turn, one after the other, however much there is.
 */
export function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  queue.push({ steps, resolve: resolve as Work['resolve'], reject });
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

/** Runs work to its end, or until `isOver` says so after a step. Returns whether it has ended. */
function runUntil({ steps, resolve, reject }: Work, isOver: () => boolean): boolean {
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
