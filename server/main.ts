import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { openLog } from './api/plugins/log.ts';
import { askOverHttp } from './api/warm-up.ts';
import { buildApp, type Dependencies } from './app.ts';
import type { OpenCatalog } from './catalog/catalog.ts';
import { openCatalog } from './catalog/open-catalog.ts';
import { openServingEngine } from './facts/duckdb/serving-engine.ts';
import { SYSTEM_CLOCK } from './jobs/clock.ts';
import type { JobLog } from './jobs/job.ts';
import { Supervisor, type WorkerProcess } from './jobs/supervisor.ts';
import { type StartedWorker, startWorker } from './jobs/worker-process.ts';
import { isMeasured } from './metrics/endpoint.ts';
import type { Collected } from './metrics/process-metrics.ts';
import { METRICS_QUESTION } from './metrics/question.ts';
import type { ServerMetrics } from './metrics/server-metrics.ts';
import type { Tracing } from './metrics/tracing.ts';
import { watchIdleMemory } from './runtime/idle-memory.ts';
import { importOptional } from './runtime/optional-packages.ts';
import { ProcessFolder } from './runtime/process-folder.ts';
import { noteAddress } from './runtime/running-servers.ts';
import { type StopOptions, stopOnSignals } from './runtime/stop-on-signals.ts';
import { whenQuiet } from './runtime/when-quiet.ts';
import type { Settings } from './settings/settings.ts';

/** Time for running requests to end after a stop signal, in milliseconds. */
const GRACE = 20_000;
/** How long a scrape waits for another process, in milliseconds. */
export const WORKER_TIMEOUT = 2000;

/** Metrics of a server. */
type Measuring = NonNullable<Dependencies['metrics']> & { close(): void | Promise<void> };

export interface OpenOptions extends Pick<Dependencies, 'logStream' | 'counter'> {
  /** Opens the metrics of the server, if enabled. */
  readonly openMetrics: (catalog: OpenCatalog) => Promise<Measuring | undefined>;
}

/** A listening server. */
export interface OpenServer {
  readonly app: FastifyInstance;
  readonly address: string;
  /** Closes the server and its stores. */
  readonly opened: AsyncDisposableStack;
}

/** Serves with this process, starts background jobs, and stops gracefully on SIGTERM and SIGINT. Returns its address. */
export async function serve(settings: Settings): Promise<string> {
  await using opening = new AsyncDisposableStack();
  const logStream = opening.adopt(openLog(), (stream) => stream.flushSync());
  const jobs = new JobsProcess();
  let metrics: ServerMetrics | undefined;
  const { app, address, opened } = await openServer(settings, {
    logStream,
    openMetrics: async (catalog) => {
      if (!isMeasured(settings)) return undefined;
      // The packages of metrics are loaded only if metrics are served.
      const { ServerMetrics } = await import('./metrics/server-metrics.ts');
      metrics = new ServerMetrics({ settings, catalog, ...(settings.jobs ? { jobs: () => jobs.collect() } : {}) });
      return metrics;
    },
  });
  opening.adopt(opened, (stack) => stack.disposeAsync());
  for (const at of (await metrics?.listen(app.log)) ?? []) app.log.info({ address: at }, 'metrics are served');
  const serving = opening.move();
  closeOnSignals(app.log, serving);
  await prepare(app, address);
  // A signal may have come meanwhile.
  if (settings.jobs && !serving.disposed) {
    // The start of a process would slow down the first answers.
    const start = () => serving.adopt(jobs.supervise(app.log, logStream), (supervisor) => supervisor.stop());
    serving.defer(whenQuiet(app.server, start));
  }
  return address;
}

/** Opens the stores, builds the server and listens. */
export async function openServer(
  settings: Settings,
  { logStream, counter, openMetrics }: OpenOptions,
): Promise<OpenServer> {
  const { dataFolder } = settings;
  // Exceeding a file size limit is a failed write and must not end the process.
  process.on('SIGXFSZ', () => {});
  // Closed in reverse order when the server stops or a step fails.
  await using opening = new AsyncDisposableStack();
  const catalog = opening.adopt(await openCatalog(settings), (opened) => opened.close());
  const folder = opening.adopt(await ProcessFolder.take(join(dataFolder, 'temporary')), (taken) => taken.remove());
  const engine = opening.adopt(await openServingEngine({ settings, folder }), (opened) => opened.close());
  const metrics = opening.adopt(await openMetrics(catalog), (opened) => opened?.close());
  const trace = await openTracing(settings);
  opening.defer(async () => trace?.close());
  const built = await buildApp({ settings, catalog, engine, logStream, counter, metrics, trace: trace?.add });
  const app = opening.adopt(built, (it) => it.close());
  app.log.info({ dataFolder }, 'opened');
  const address = await listen(app, settings);
  await noteAddress(folder, address);
  opening.defer(watchIdleMemory());
  return { app, address, opened: opening.move() };
}

/** Closes everything on a signal, or after an unhandled error. */
export function closeOnSignals(
  log: Pick<FastifyBaseLogger, 'info' | 'error' | 'fatal'>,
  opened: AsyncDisposableStack,
  { delay = GRACE, ...options }: Partial<Pick<StopOptions, 'delay' | 'skip'>> = {},
): () => void {
  return stopOnSignals({ log, delay, ...options }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'stopped by an error');
    else log.info({ signal }, 'stopping');
    await opened.disposeAsync();
  });
}

/** Background jobs run in a separate process, so that heavy jobs and crashes do not affect requests. */
export class JobsProcess {
  #worker: StartedWorker | undefined;

  /** Starts the process and keeps it running. */
  supervise(log: JobLog, logStream: { write(line: string): void }): Supervisor {
    const program = fileURLToPath(new URL('./workers/worker.ts', import.meta.url));
    const start = (): WorkerProcess => {
      this.#worker = startWorker(program, { log, logStream });
      return this.#worker;
    };
    const name = 'the process of background jobs';
    return new Supervisor({ name, start, log, clock: SYSTEM_CLOCK, random: Math.random });
  }

  /** Its metrics; undefined while it is not running. Rejects if it does not answer. */
  async collect(): Promise<Collected | undefined> {
    return (await this.#worker?.ask(METRICS_QUESTION, WORKER_TIMEOUT)) as Collected | undefined;
  }
}

/** The packages of traces are loaded only if there is a collector. */
async function openTracing({ tracesEndpoint }: Settings): Promise<Tracing | undefined> {
  if (tracesEndpoint === '') return undefined;
  const load = () => import('./metrics/tracing.ts');
  const packages = /^@(fastify\/otel$|opentelemetry\/)/;
  return (await importOptional('OTEL_EXPORTER_OTLP_ENDPOINT', packages, load)).startTracing();
}

/** Waits until a server that listens is prepared for its first request. */
export async function prepare(app: FastifyInstance, address: string): Promise<void> {
  const asked = askOverHttp(address).catch((error: unknown) => {
    app.log.warn({ err: error }, 'could not be asked over the network');
  });
  await Promise.all([app.prepared(), asked]);
}

async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} of ${host} is in use already; stop what listens there or set PORT.`, { cause });
    }
    if (code === 'EACCES') throw new Error(`Port ${port} may not be used by this user; set PORT.`, { cause });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`HOST '${host}' is not an address of this machine.`, { cause });
    }
    throw cause;
  }
}
