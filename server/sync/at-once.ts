/** Concurrent turns; requests, memory and processor are limited across all. */
export const AT_ONCE = 3;
/** Further turns, each in place of one that waits. They hold a lease, a few requests or files, and little memory. */
const MAX_WAITING = 12;

/**
 * Calls `turn` until it returns false, several times at once. A turn that calls `onWait`, because its provider does not
 * answer, a load runs or another process has its project, is replaced: it holds up no other.
 */
export async function runWorkers(turn: (onWait: () => void) => Promise<boolean>): Promise<void> {
  const repeating: Promise<void>[] = [];
  const errors: unknown[] = [];
  let waiting = 0;
  const start = (): void => {
    repeating.push(repeat().catch((error: unknown) => void errors.push(error)));
  };
  const repeat = async (): Promise<void> => {
    const state = { isReplaced: false };
    const onWait = (): void => {
      if (state.isReplaced || waiting === MAX_WAITING) return;
      state.isReplaced = true;
      waiting++;
      start();
    };
    try {
      let more = true;
      while (more && !state.isReplaced) more = await turn(onWait);
    } finally {
      if (state.isReplaced) waiting--;
    }
  };
  for (let started = 0; started < AT_ONCE; started++) start();
  // All turns, including added ones, end before a failure is thrown.
  for (const one of repeating) await one;
  if (errors.length > 0) throw errors[0];
}

interface Polling {
  /** What is to be run now. */
  readonly list: () => Promise<readonly string[]>;
  /** Rejects only if all is stopped, which others throw, too. */
  readonly run: (id: string) => Promise<void>;
  /** Resolves when it is time to look again. */
  readonly pause: () => Promise<void>;
  /** How many run at once. */
  readonly atOnce: number;
  readonly ended: AbortSignal;
}

/** Runs what `list` returns, again and again, beside the turns of `runWorkers`. Resolves when all that it began has ended. */
export async function pollAndRun({ list, run, pause, atOnce, ended }: Polling): Promise<void> {
  const running = new Set<Promise<void>>();
  for (;;) {
    await pause();
    if (ended.aborted) break;
    for (const id of await list()) {
      if (ended.aborted || running.size === atOnce) break;
      const one = run(id)
        .catch(() => {})
        .finally(() => running.delete(one));
      running.add(one);
    }
  }
  await Promise.all(running);
}
