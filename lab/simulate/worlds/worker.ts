import type { Job } from '../../../server/jobs/job.ts';
import type { Machine } from '../host.ts';
import type { Packages, SimulatedProcess } from '../process.ts';
import type { Run } from '../world.ts';

export interface WorkerOptions {
  readonly name: string;
  readonly machine: Machine;
  readonly dataFolder: string;
  readonly isCatalogDistant: boolean;
  readonly packages?: Packages;
}

/** Errors that no fault of a simulation explains. */
const BUG = /Malformed|Binder|Parser|TypeError|RangeError|Conversion|constraint|not a function/;

/** A process of all background jobs. */
export function startWorker(run: Run, { dataFolder, ...options }: WorkerOptions): SimulatedProcess {
  const { simulation } = run;
  const process = run.start(options);
  const onError = (line: { readonly err?: Error }, message: string): void => {
    const text = `${options.name} logs ${message} ${line.err?.message ?? ''}`;
    simulation.note(text);
    if (BUG.test(text)) simulation.violate(text);
  };
  runJobs(run, process, { dataFolder, jobs: process.product.JOBS, log: { error: onError as () => void } });
  return process;
}

interface Jobs {
  readonly dataFolder: string;
  readonly jobs: readonly Job[];
  readonly log: Partial<Record<'error' | 'warn', (...given: readonly unknown[]) => void>>;
  /** Whether the catalog is made if there is none. */
  readonly create?: boolean;
}

/** Runs jobs in a process. */
export function runJobs(
  run: Run,
  process: SimulatedProcess,
  { dataFolder, jobs, log: own, create = false }: Jobs,
): void {
  const { simulation } = run;
  const { openCatalog, openLeases, openUsage, readSettings, JobRunner, JobStates, SYSTEM_CLOCK } = process.product;
  const settings = readSettings({
    ORDINATE_DATA: dataFolder,
    ORDINATE_THREADS: '1',
    ORDINATE_MIN_FREE: '0MB',
    ...run.environment,
  });
  const random = simulation.random.fork(`runner ${process.name}`);
  const none = (): void => {};
  const logOf = (job: string) => {
    // Each run says when it begins and how it ends.
    const follow = (...given: readonly unknown[]): void => {
      const what = /^job (started|done|failed|stopped)$/.exec(String(given.at(-1)))?.[1];
      if (what === 'started') process.runs.set(job, simulation.now);
      else if (what !== undefined) process.runs.delete(job);
    };
    const error = (...given: readonly unknown[]): void => {
      follow(...given);
      own.error?.(...given);
    };
    return { debug: follow, info: follow, warn: none, ...own, error };
  };
  const log = { ...logOf(''), child: ({ job }: { readonly job: string }) => logOf(job) };
  const runner = new JobRunner({
    jobs,
    settings,
    openCatalog: () => openCatalog(settings, { create }),
    leases: openLeases(settings),
    states: new JobStates(openUsage(settings, () => {})),
    log,
    describeError: (error) => error.message,
    clock: SYSTEM_CLOCK,
    random: () => random.next(),
  });
  void runner
    .run(new AbortController().signal)
    .catch((error: unknown) => simulation.violate(`${process.name}: the runner has ended: ${String(error)}`));
}
