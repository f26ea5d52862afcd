import cluster, { type Worker } from 'node:cluster';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { openLog, serializeError } from '../api/plugins/log.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { SYSTEM_CLOCK } from '../jobs/clock.ts';
import type { JobLog } from '../jobs/job.ts';
import { Supervisor, type WorkerProcess } from '../jobs/supervisor.ts';
import { closeOnSignals, JobsProcess, WORKER_TIMEOUT } from '../main.ts';
import { isMeasured } from '../metrics/endpoint.ts';
import type { Collected } from '../metrics/process-metrics.ts';
import type { Sources } from '../metrics/process-up.ts';
import { METRICS_QUESTION } from '../metrics/question.ts';
import { askChild } from '../runtime/ask-process.ts';
import type { Settings } from '../settings/settings.ts';
import { type End, type FromServer, isOfKind, NUMBER } from './messages.ts';
import { SharedCounters } from './shared-counters.ts';

/** Milliseconds until a server process that should end is killed: draining, then running requests. */
const KILL_AFTER = 30_000;
/** How often a process may be killed before it is ready, one after the other, until it counts as one that cannot start. */
const MAX_KILLED = 3;
/** Milliseconds until a graceful shutdown is given up. */
const GRACE = KILL_AFTER + 5000;

type Log = JobLog & Pick<FastifyBaseLogger, 'fatal'>;

/** A supervised server process. */
interface Slot {
  /** Its name in metrics. */
  readonly name: string;
  readonly supervisor: Supervisor;
  /** The address, when it is ready for the first time; rejects if it cannot start. */
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
    // Limits of memory, as bin/ordinate sets them.
    execArgv: process.execArgv.filter((option) => option.startsWith('--max-')),
  });
  let slots: Slot[] = [];
  // Including those that will replace others.
  const all = new Set<Slot>();
  const stopping = new AbortController();
  const open = (number: number): Slot => {
    const slot = startSlot(settings, { number, count }, { log, counters, stopping: stopping.signal });
    all.add(slot);
    return slot;
  };
  opening.defer(async () => {
    stopping.abort();
    await Promise.all([...all].map(({ supervisor }) => supervisor.stop()));
  });
  // The first one migrates the catalog, and reports why it cannot serve.
  slots.push(open(1));
  const address = await slots[0]!.ready;
  while (slots.length < count) slots.push(open(slots.length + 1));
  await Promise.all(slots.map(({ ready }) => ready));
  const jobs = new JobsProcess();
  if (settings.jobs) opening.adopt(jobs.supervise(log, logStream), (supervisor) => supervisor.stop());
  const sources = (): Sources => ({
    ...Object.fromEntries(slots.map(({ name, collect }) => [name, collect])),
    ...(settings.jobs ? { jobs: () => jobs.collect() } : {}),
  });
  await serveMetrics(opening, { settings, sources, log });

  let replacing = Promise.resolve();
  process.on('SIGUSR2', () => {
    replacing = replacing.then(async () => {
      slots = await replaceAll(slots, { open, log, signal: stopping.signal });
      for (const slot of all) if (!slots.includes(slot)) all.delete(slot);
    });
    // The next signal tries again.
    replacing = replacing.catch((error: unknown) => log.error({ err: error }, 'server processes were not replaced'));
  });
  closeOnSignals(log, opening.move(), { delay: GRACE, skip: ['SIGUSR2'] });
  return address;
}

/** Serves the metrics of all processes, if enabled. The packages of metrics are loaded only then. */
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

/** Replaces processes one by one. Keeps the old ones if a new one does not start. */
async function replaceAll(
  slots: readonly Slot[],
  { open, log, signal }: { open: (number: number) => Slot; log: Log; signal: AbortSignal },
): Promise<Slot[]> {
  const now = [...slots];
  log.info({ processes: slots.length }, 'server processes are being replaced');
  for (const [index, old] of slots.entries()) {
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

function startSlot(
  { host, port }: Settings,
  { number, count }: { readonly number: number; readonly count: number },
  { log, counters, stopping }: { readonly log: Log; readonly counters: SharedCounters; readonly stopping: AbortSignal },
): Slot {
  const { promise: ready, resolve, reject } = Promise.withResolvers<string>();
  // Handled where it is awaited; a process that ends later than that is restarted.
  ready.catch(() => {});
  let isStarted = false;
  let killed = 0;
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
    const ending = endOf(worker);
    const ended = ending.then(({ how }) => reason ?? how);
    void ending.then(async ({ isKilled }) => {
      // Whoever killed it, such as a system without memory, says nothing about whether the next one can start.
      killed += isKilled ? 1 : MAX_KILLED;
      if (!isStarted && killed >= MAX_KILLED) reject(new Error(await ended));
    });
    return { pid: worker.process.pid, ended, stop: () => stop(worker, ended, !stopping.aborted) };
  };
  const supervisor = new Supervisor({ name: 'a server process', start, log, clock: SYSTEM_CLOCK, random: Math.random });
  const collect = async (): Promise<Collected | undefined> =>
    current && ((await askChild(current.process, METRICS_QUESTION, WORKER_TIMEOUT)) as Collected);
  return { name: `server-${number}`, supervisor, ready, collect };
}

/** Processes share the processors, unless the setting limits the threads of each. */
function threadsOf(count: number): { ORDINATE_THREADS?: string } {
  if (process.env['ORDINATE_THREADS']) return {};
  return { ORDINATE_THREADS: String(Math.max(1, Math.floor(availableParallelism() / count))) };
}

interface Ending {
  /** How a process ended, or why it could not start. */
  readonly how: string;
  /** Whether a signal ended it. */
  readonly isKilled: boolean;
}

/** Never rejects: it has several callers. */
function endOf(worker: Worker): Promise<Ending> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) =>
      resolve({ how: signal ?? `exit code ${code}`, isKilled: signal !== null }),
    );
    // A running process emits errors, too: a message that cannot be sent, for example.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) resolve({ how: message, isKilled: false });
    });
  });
}

function stop(worker: Worker, ended: Promise<unknown>, isReplaced: boolean): void {
  if (worker.isConnected()) worker.send({ kind: 'end', isReplaced } satisfies End);
  else worker.process.kill('SIGTERM');
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), KILL_AFTER);
  void ended.finally(() => clearTimeout(timer));
}
