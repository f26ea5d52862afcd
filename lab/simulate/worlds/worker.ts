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
  const { name } = options;
  const process = run.start(options);
  const { openCatalog, openLeases, openUsage, readSettings, JobRunner, JobStates, JOBS, SYSTEM_CLOCK } =
    process.product;
  const settings = readSettings({
    ORDINATE_DATA: dataFolder,
    ORDINATE_THREADS: '1',
    ORDINATE_MIN_FREE: '0MB',
    ...run.environment,
  });
  const random = simulation.random.fork(`runner ${name}`);
  const onError = (line: { readonly err?: Error }, message: string): void => {
    const text = `${name} logs ${message} ${line.err?.message ?? ''}`;
    simulation.note(text);
    if (BUG.test(text)) simulation.violate(text);
  };
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: onError as () => void, child: () => log };
  const runner = new JobRunner({
    jobs: JOBS,
    settings,
    openCatalog: () => openCatalog(settings, { create: false }),
    leases: openLeases(settings),
    states: new JobStates(openUsage(settings, () => {})),
    log,
    describeError: (error) => error.message,
    clock: SYSTEM_CLOCK,
    random: () => random.next(),
  });
  void runner
    .run(new AbortController().signal)
    .catch((error: unknown) => simulation.violate(`${name}: the runner has ended: ${String(error)}`));
  return process;
}
