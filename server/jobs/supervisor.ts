import type { Clock } from './clock.ts';
import type { JobLog } from './job.ts';
import { backOff } from './schedule.ts';

/** A started process. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves with a description of how it ended. */
  readonly ended: Promise<string>;
  /** Requests termination; kills the process after some seconds. */
  stop(): void;
}

export interface SupervisorOptions {
  /** What the process is, for the log. */
  readonly name: string;
  readonly start: () => WorkerProcess;
  readonly log: JobLog;
  readonly clock: Clock;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
}

/** Pauses before a restart, in milliseconds. */
const PAUSES = { first: 500, max: 60_000 };
/** A process that ran this long resets the back-off, in milliseconds. */
const STEADY_AFTER = 300_000;

/** Keeps a process running: restarts it with exponential back-off until stopped. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  readonly #watching: Promise<void>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#watching = this.#keepRunning();
  }

  /** Resolves when the process has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watching;
  }

  async #keepRunning(): Promise<void> {
    const { name, log, clock, random } = this.#options;
    const { signal } = this.#stopping;
    for (let ends = 0; !signal.aborted; ) {
      const startedAt = clock.now();
      // Starting fails without memory or file descriptors.
      const how = await this.#runOnce().catch((error: Error) => error.message);
      if (signal.aborted) return;
      ends = clock.now() - startedAt >= STEADY_AFTER ? 1 : ends + 1;
      const pause = Math.round(backOff(ends, PAUSES, random));
      log.error({ how, pause }, `${name} ended; it will be restarted`);
      await clock.sleep(pause, signal);
    }
  }

  /** Resolves with how the process ended. */
  async #runOnce(): Promise<string> {
    const { name, start, log } = this.#options;
    const { signal } = this.#stopping;
    const worker = start();
    log.info({ worker: worker.pid }, `${name} was started`);
    const stop = (): void => worker.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await worker.ended;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }
}
