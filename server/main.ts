import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { openLog } from './api/plugins/log.ts';
import { buildApp } from './app.ts';
import { openCatalog } from './catalog/open-catalog.ts';
import { openServingEngine } from './facts/duckdb/serving-engine.ts';
import { SYSTEM_CLOCK } from './jobs/clock.ts';
import { Supervisor, type WorkerProcess } from './jobs/supervisor.ts';
import { type StartedWorker, startWorker } from './jobs/worker-process.ts';
import { isMeasured } from './metrics/endpoint.ts';
import type { Collected } from './metrics/process-metrics.ts';
import { METRICS_QUESTION } from './metrics/question.ts';
import type { ServerMetrics, ServerMetricsOptions } from './metrics/server-metrics.ts';
import type { Tracing } from './metrics/tracing.ts';
import { ProcessFolder } from './process-folder.ts';
import type { Settings } from './settings/settings.ts';

/** Time for running requests to end after a stop signal, in milliseconds. */
const GRACE = 20_000;
/** How long a scrape waits for the process of background jobs, in milliseconds. */
const WORKER_TIMEOUT = 2000;

/** Opens the stores, builds the server, listens, and stops gracefully on SIGTERM and SIGINT. Returns its address. */
export async function serve(settings: Settings): Promise<string> {
  const { dataFolder, memoryLimit, threads } = settings;
  // Exceeding a file size limit is a failed write and must not end the process.
  process.on('SIGXFSZ', () => {});
  // Closed in reverse order when the server stops or a step fails.
  await using opening = new AsyncDisposableStack();
  const logStream = opening.adopt(openLog(), (stream) => stream.flushSync());
  const catalog = opening.adopt(await openCatalog(dataFolder), (opened) => opened.close());
  const folder = opening.adopt(await ProcessFolder.take(join(dataFolder, 'temporary')), (taken) => taken.remove());
  const options = { dataFolder, memoryLimit, threads, temporaryFolder: folder.path };
  const engine = opening.adopt(await openServingEngine(options), (opened) => opened.close());
  let worker: StartedWorker | undefined;
  const jobs = settings.jobs ? async () => collectFromWorker(worker) : undefined;
  const metrics = opening.adopt(await openMetrics({ settings, catalog, jobs }), (opened) => opened?.close());
  const trace = await openTracing(settings);
  opening.defer(async () => trace?.close());
  const built = await buildApp({ settings, catalog, engine, logStream, metrics, trace: trace?.add });
  const app = opening.adopt(built, (it) => it.close());
  app.log.info({ dataFolder }, 'opened');
  const address = await listen(app, settings);
  const onStart = (started: StartedWorker): void => {
    worker = started;
  };
  if (settings.jobs) opening.adopt(superviseJobs(app, logStream, onStart), (supervisor) => supervisor.stop());
  for (const at of (await metrics?.listen(app.log)) ?? []) app.log.info({ address: at }, 'metrics are served');
  const opened = opening.move();
  closeWithGrace({ delay: GRACE, logger: app.log }, async ({ err, signal }) => {
    if (err) app.log.fatal({ err }, 'stopped by an error');
    else app.log.info({ signal }, 'stopping');
    await opened.disposeAsync();
  });
  return address;
}

/** Background jobs run in a separate process, so that heavy jobs and crashes do not affect requests. */
function superviseJobs(
  { log }: FastifyInstance,
  logStream: { write(line: string): void },
  onStart: (worker: StartedWorker) => void,
): Supervisor {
  const program = fileURLToPath(new URL('./worker.ts', import.meta.url));
  const start = (): WorkerProcess => {
    const worker = startWorker(program, { log, logStream });
    onStart(worker);
    return worker;
  };
  return new Supervisor({ start, log, clock: SYSTEM_CLOCK, random: Math.random });
}

/** The packages of metrics are loaded only if metrics are served. */
async function openMetrics(
  options: Pick<ServerMetricsOptions, 'settings' | 'catalog'> & {
    readonly jobs: ServerMetricsOptions['jobs'] | undefined;
  },
): Promise<ServerMetrics | undefined> {
  if (!isMeasured(options.settings)) return undefined;
  const { ServerMetrics } = await import('./metrics/server-metrics.ts');
  const { jobs, ...rest } = options;
  return new ServerMetrics(jobs === undefined ? rest : { ...rest, jobs });
}

/** Undefined while the process of background jobs is not running or does not answer. */
async function collectFromWorker(worker: StartedWorker | undefined): Promise<Collected | undefined> {
  return (await worker?.ask(METRICS_QUESTION, WORKER_TIMEOUT)) as Collected | undefined;
}

/** The packages of traces are loaded only if there is a collector. */
async function openTracing({ tracesEndpoint }: Settings): Promise<Tracing | undefined> {
  if (tracesEndpoint === '') return undefined;
  const { startTracing } = await import('./metrics/tracing.ts');
  return startTracing();
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
