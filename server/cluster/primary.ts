import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { openLog, serializeError } from '../api/plugins/log.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { SYSTEM_CLOCK } from '../jobs/clock.ts';
import type { JobLog } from '../jobs/job.ts';
import { Supervisor, type WorkerProcess } from '../jobs/supervisor.ts';
import { JobsProcess, stopOnSignals, WORKER_TIMEOUT } from '../main.ts';
import { isMeasured } from '../metrics/endpoint.ts';
import type { Collected } from '../metrics/process-metrics.ts';
import type { Sources } from '../metrics/process-up.ts';
import { METRICS_QUESTION } from '../metrics/question.ts';
import { askChild } from '../runtime/ask-process.ts';
import type { Settings } from '../settings/settings.ts';
import { DRAIN, type FromServer, isOfKind, NUMBER } from './messages.ts';
import { SharedCounters } from './shared-counters.ts';

/** Milliseconds after which a server process that was told to end is killed: draining, then running requests. */
const KILL_AFTER = 30_000;
/** Milliseconds until this process gives up to end gracefully. */
const GRACE = KILL_AFTER + 5000;

type Log = JobLog & Pick<FastifyBaseLogger, 'fatal'>;

/** A supervised server process. */
interface Place {
  /** Its name in metrics. */
  readonly name: string;
  readonly supervisor: Supervisor;
  /** The address, when it is ready for the first time; rejects if it ends before. */
  readonly ready: Promise<string>;
  /** Its metrics; undefined while it is not running. Rejects if it does not answer. */
  readonly collect: () => Promise<Collected | undefined>;
}

/**
 * Serves with several processes that share the port, their limits of requests, and one process of background jobs. SIGUSR2
 * replaces the server processes one by one, each after its successor is ready; they run the program as it is on the disk
 * then. Returns the address.
 */
export async function serveWithProcesses(settings: Settings, count: number): Promise<string> {
  await using opening = new AsyncDisposableStack();
  const logStream = opening.adopt(openLog({ isShared: true }), (stream) => stream.flushSync());
  const log: Log = pino({ level: settings.logLevel, serializers: { err: serializeError } }, logStream);
  const counters = new SharedCounters(Date.now);
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./server-process.ts', import.meta.url)),
    args: [],
    execArgv: [],
  });
  let places: Place[] = [];
  // With those that are about to replace others.
  const all = new Set<Place>();
  const stopping = new AbortController();
  const open = (number: number): Place => {
    const place = startPlace(settings, { number, count }, { log, counters });
    all.add(place);
    return place;
  };
  opening.defer(async () => {
    stopping.abort();
    await Promise.all([...all].map(({ supervisor }) => supervisor.stop()));
  });
  // The first one migrates the catalog, and says why where nothing can be served.
  places.push(open(1));
  const address = await places[0]!.ready;
  while (places.length < count) places.push(open(places.length + 1));
  await Promise.all(places.map(({ ready }) => ready));
  const jobs = new JobsProcess();
  if (settings.jobs) opening.adopt(jobs.supervise(log, logStream), (supervisor) => supervisor.stop());
  const sources = (): Sources => ({
    ...Object.fromEntries(places.map(({ name, collect }) => [name, collect])),
    ...(settings.jobs ? { jobs: () => jobs.collect() } : {}),
  });
  await serveMetrics(opening, { settings, sources, log });

  let replacing = Promise.resolve();
  process.on('SIGUSR2', () => {
    replacing = replacing.then(async () => {
      places = await replaceAll(places, { open, log, signal: stopping.signal });
      for (const place of all) if (!places.includes(place)) all.delete(place);
    });
  });
  stopOnSignals(log, opening.move(), { delay: GRACE, skip: ['SIGUSR2'] });
  return address;
}

/** Serves the metrics of all processes, if that is wanted. The packages of metrics are loaded only then. */
async function serveMetrics(
  opening: AsyncDisposableStack,
  { settings, sources, log }: { settings: Settings; sources: () => Sources; log: Log },
): Promise<void> {
  if (!isMeasured(settings)) return;
  const { ServedMetrics } = await import('../metrics/served-metrics.ts');
  const catalog = opening.adopt(await openCatalog(settings), (opened) => opened.close());
  const metrics = opening.adopt(new ServedMetrics({ settings, catalog, sources }), (served) => served.close());
  for (const address of await metrics.listen(log)) log.info({ address }, 'metrics are served');
}

/** Replaces processes one by one. Keeps the old ones if a new one does not get ready. */
async function replaceAll(
  places: readonly Place[],
  { open, log, signal }: { open: (number: number) => Place; log: Log; signal: AbortSignal },
): Promise<Place[]> {
  const now = [...places];
  log.info({ processes: places.length }, 'server processes are being replaced');
  for (const [index, old] of places.entries()) {
    if (signal.aborted) return now;
    const successor = open(index + 1);
    try {
      await successor.ready;
    } catch (error) {
      log.error({ err: error }, 'a new server process did not start; the old ones go on');
      await successor.supervisor.stop();
      return now;
    }
    now[index] = successor;
    await old.supervisor.stop();
  }
  log.info({ processes: now.length }, 'server processes were replaced');
  return now;
}

function startPlace(
  { host, port }: Settings,
  { number, count }: { readonly number: number; readonly count: number },
  { log, counters }: { readonly log: Log; readonly counters: SharedCounters },
): Place {
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  // Handled where it is awaited; a process that ends later than that is restarted.
  ready.catch(() => {});
  let isStarted = false;
  let current: Worker | undefined;
  const start = (): WorkerProcess => {
    const worker = cluster.fork({ HOST: host, PORT: String(port), [NUMBER]: String(number), ...threadsOf(count) });
    current = worker;
    counters.serve(worker);
    let reason: string | undefined;
    worker.on('message', (message: unknown) => {
      if (isOfKind<FromServer & { kind: 'ready' }>(message, 'ready')) {
        isStarted = true;
        resolve(message.address);
      } else if (isOfKind<FromServer & { kind: 'failed' }>(message, 'failed')) reason = message.reason;
    });
    const ended = endOf(worker).then((how) => reason ?? how);
    if (!isStarted) void ended.then((how) => reject(new Error(how)));
    return { pid: worker.process.pid, ended, stop: () => stop(worker, ended) };
  };
  const supervisor = new Supervisor({ name: 'a server process', start, log, clock: SYSTEM_CLOCK, random: Math.random });
  const collect = async (): Promise<Collected | undefined> =>
    current && ((await askChild(current.process, METRICS_QUESTION, WORKER_TIMEOUT)) as Collected);
  return { name: `server-${number}`, supervisor, ready, collect };
}

/** Processes share the processors, unless the setting says how many threads each may have. */
function threadsOf(count: number): { ORDINATE_THREADS?: string } {
  if (process.env['ORDINATE_THREADS']) return {};
  return { ORDINATE_THREADS: String(Math.max(1, Math.floor(availableParallelism() / count))) };
}

async function endOf(worker: Worker): Promise<string> {
  const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null];
  return signal ?? `exit code ${code}`;
}

function stop(worker: Worker, ended: Promise<unknown>): void {
  if (worker.isConnected()) worker.send(DRAIN);
  else worker.process.kill('SIGTERM');
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), KILL_AFTER);
  void ended.finally(() => clearTimeout(timer));
}
