import closeWithGrace, { type Options } from 'close-with-grace';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/**
 * Signals within this time are one, in milliseconds: a terminal sends Ctrl-C to all processes of its group, as service
 * managers do with SIGTERM, and npm and the first process of a server pass it on.
 */
const ONE_SIGNAL = 1000;

interface Why {
  /** The unhandled error. */
  readonly err?: Error | undefined;
  readonly signal?: string | undefined;
}

export interface StopOptions extends Pick<Options, 'skip'> {
  readonly log: { error(this: void, ...words: unknown[]): void };
  /** Milliseconds that `close` may take. */
  readonly delay: number;
  /** Milliseconds. */
  readonly now?: () => number;
}

/**
 * Calls `close` once, on a signal, on an unhandled error or when the returned function is called, and then
 * ends the process. A second signal ends it immediately, with exit code 1.
 */
export function stopOnSignals(
  { log, delay, skip = [], now = () => performance.now() }: StopOptions,
  close: (why: Why) => Promise<void>,
): () => void {
  let stoppingSince: number | undefined;
  let first: string | undefined;
  const grace = closeWithGrace({ delay, skip: [...skip, ...SIGNALS], logger: log }, async ({ err }) => {
    stoppingSince = now();
    await close({ err, signal: first });
  });
  const stop = (): void => {
    if (stoppingSince === undefined) grace.close();
  };
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      first ??= signal;
      if (stoppingSince === undefined || now() - stoppingSince < ONE_SIGNAL) return stop();
      log.error(`second ${signal}, exiting`);
      process.exit(1);
    });
  }
  return stop;
}
