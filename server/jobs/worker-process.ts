import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { askChild } from '../runtime/ask-process.ts';
import type { JobLog } from './job.ts';
import type { WorkerProcess } from './supervisor.ts';

/** Milliseconds after which a terminating process is killed. */
const KILL_AFTER = 3000;
/** The process needs few threads of DuckDB, and each uses memory. */
const THREADS = '4';

/** A process that answers questions. */
export interface StartedWorker extends WorkerProcess {
  /** See `askChild`. */
  ask(question: string, timeout: number): Promise<unknown>;
}

/**
 * Starts a program as a process that ends with this one (its channel closes then). Its JSON log lines are written to
 * `logStream`, and other output to `log`.
 */
export function startWorker(
  program: string,
  { log, logStream }: { log: JobLog; logStream: { write(line: string): void } },
): StartedWorker {
  const child = fork(program, {
    env: { ...process.env, UV_THREADPOOL_SIZE: THREADS },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  createInterface({ input: child.stderr! }).on('line', (line) => {
    if (line.startsWith('{')) logStream.write(`${line}\n`);
    else if (line !== '') log.warn({ worker: child.pid, line }, 'output of the process of background jobs');
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (signal as string | null) ?? `exit code ${code as number}`,
    // The process could not be started.
    (error: Error) => error.message,
  );
  return {
    pid: child.pid,
    ended,
    ask: (question, timeout) => askChild(child, question, timeout),
    stop: () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER);
      void ended.finally(() => clearTimeout(timer));
    },
  };
}
