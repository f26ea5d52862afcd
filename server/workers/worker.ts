import type { FastifyBaseLogger } from 'fastify';
import { destination, pino } from 'pino';
import { serializeError } from '../api/plugins/log.ts';
import { openCatalog } from '../catalog/open-catalog.ts';
import { openLeases } from '../catalog/open-leases.ts';
import { openUsage } from '../catalog/open-usage.ts';
import { SYSTEM_CLOCK } from '../jobs/clock.ts';
import { JobRunner } from '../jobs/job-runner.ts';
import { JobStates } from '../jobs/job-states.ts';
import { JOBS } from '../jobs/jobs.ts';
import { isMeasured } from '../metrics/endpoint.ts';
import { watchIdleMemory } from '../runtime/idle-memory.ts';
import { stopOnSignals } from '../runtime/stop-on-signals.ts';
import { readSettings, type Settings } from '../settings/settings.ts';

/** Time for jobs to end after a stop signal, in milliseconds. */
const GRACE = 900;

/**
 * Runs background jobs until SIGTERM or SIGINT, or until the process that started this one has ended.
 * @param options a process that a server has started gives its metrics to it; others serve them
 */
export async function work(settings: Settings, { isStartedByServer = false } = {}): Promise<void> {
  const { dataFolder, logLevel } = settings;
  // As in cli/ordinate.ts.
  process.report.excludeEnv = true;
  // Exceeding a file size limit is a failed write and must not end the process.
  process.on('SIGXFSZ', () => {});
  // Unbuffered: there are few lines, and none is lost when the process is killed.
  const logStream = destination({ dest: 2, sync: true });
  // The reader of the log may have exited.
  logStream.on('error', () => {});
  const log = pino({ level: logLevel, serializers: { err: serializeError } }, logStream);
  // Creates a missing catalog and reports problems with it; each run opens the catalog again.
  await (await openCatalog(settings)).close();
  const usage = openUsage(settings, (error) => log.warn({ err: error }, 'the state of jobs was not stored'));
  const metrics = await measure(settings, isStartedByServer, log);
  const runner = new JobRunner({
    jobs: JOBS,
    settings,
    openCatalog: () => openCatalog(settings, { create: false }),
    leases: openLeases(settings),
    states: new JobStates(usage),
    log,
    describeError: (error) => serializeError(error).message,
    clock: SYSTEM_CLOCK,
    random: Math.random,
  });
  watchIdleMemory();
  const stopping = new AbortController();
  const running = runner.run(stopping.signal);
  const stop = stopOnSignals({ log, delay: GRACE }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'background jobs stopped by an error');
    else log.info({ signal }, 'background jobs are stopping');
    stopping.abort();
    await running;
    await metrics?.close();
    await usage.close();
  });
  process.once('disconnect', stop);
  log.info({ dataFolder, jobs: JOBS.map(({ name }) => name) }, 'background jobs are running');
  await running;
}

/** The packages of metrics are loaded only if metrics are served. */
async function measure(
  settings: Settings,
  isStartedByServer: boolean,
  log: FastifyBaseLogger,
): Promise<{ close(): Promise<void> } | undefined> {
  if (!isMeasured(settings)) return undefined;
  const { answerServer, serveJobsMetrics } = await import('../metrics/jobs-metrics.ts');
  if (isStartedByServer) {
    answerServer();
    return undefined;
  }
  const { addresses, close } = await serveJobsMetrics(settings, log);
  for (const address of addresses) log.info({ address }, 'metrics are served');
  return { close };
}

// `serve` starts this file directly: the command line would import all commands.
if (import.meta.main) {
  await work(readSettings(process.env), { isStartedByServer: true }).catch((error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  });
}
