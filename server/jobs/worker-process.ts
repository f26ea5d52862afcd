import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { JobLog } from './job.ts';
import type { WorkerProcess } from './supervisor.ts';

/** A process that was asked to end is killed after so many milliseconds. */
const KILL_AFTER = 3000;
/** It asks little of DuckDB at a time; each thread costs memory. */
const THREADS = '4';

/**
 * Starts a program as a process that ends when this one does (its channel closes then). Lines of JSON that it logs go to
 * `logStream` whole, and whatever else it says to `log`.
 */
export function startWorker(
  program: string,
  { log, logStream }: { log: JobLog; logStream: { write(line: string): void } },
): WorkerProcess {
  const child = fork(program, {
    env: { ...process.env, UV_THREADPOOL_SIZE: THREADS },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  createInterface({ input: child.stderr! }).on('line', (line) => {
    if (line.startsWith('{')) logStream.write(`${line}\n`);
    else if (line !== '') log.warn({ worker: child.pid, line }, 'said by the process of background jobs');
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (signal as string | null) ?? `exit code ${code as number}`,
    // It could not be started.
    (error: Error) => error.message,
  );
  return {
    pid: child.pid,
    ended,
    stop: () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER);
      void ended.finally(() => clearTimeout(timer));
    },
  };
}
