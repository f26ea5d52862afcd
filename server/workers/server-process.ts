import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { openLog } from '../api/plugins/log.ts';
import { closeOnSignals, openServer, prepare } from '../main.ts';
import { isMeasured } from '../metrics/endpoint.ts';
import type { ServerProcessMetrics } from '../metrics/server-process-metrics.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { DRAIN, type FromServer, isOfKind, NUMBER } from './messages.ts';
import { remoteCounter } from './shared-counters.ts';

/** How long clients may send further requests to a process that drains, in milliseconds. */
const DRAIN_TIME = 5000;
const POLL = 50;

/** One of the server processes that share a port. The first process starts it by `node:cluster`. */
async function run(): Promise<void> {
  // It may be told to end before it is ready.
  const told = Promise.withResolvers<void>();
  process.on('message', (message) => {
    if (isOfKind<typeof DRAIN>(message, DRAIN.kind)) told.resolve();
  });
  const logStream = openLog({ isShared: true });
  const counter = remoteCounter(process);
  const settings = readSettings(process.env);
  const openMetrics = () => measure(settings);
  const { app, address, opened } = await openServer(settings, { logStream, counter, openMetrics });
  const close = closeOnSignals(app.log, opened);
  process.once('exit', () => logStream.flushSync());
  void told.promise.then(() => drain(app.server)).finally(close);
  await prepare(app, address);
  tell({ kind: 'ready', address });
}

/** Opens the metrics of this process, which the first process serves. */
async function measure(settings: Settings): Promise<ServerProcessMetrics | undefined> {
  if (!isMeasured(settings)) return undefined;
  // The packages of metrics are loaded only if metrics are served.
  const { ServerProcessMetrics } = await import('../metrics/server-process-metrics.ts');
  const metrics = new ServerProcessMetrics(`server-${Number(process.env[NUMBER])}`);
  metrics.answerFirstProcess();
  return metrics;
}

/**
 * Accepts no more connections, and closes each after its next answer, so that its client connects to another process.
 * Resolves when none is left, or after some seconds.
 */
async function drain(server: Server): Promise<void> {
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false;
  });
  // `close` of an HTTP server would cut idle connections, whose clients may be sending a request right now.
  NetServer.prototype.close.call(server);
  const deadline = Date.now() + DRAIN_TIME;
  while (Date.now() < deadline && (await connectionsOf(server)) > 0) {
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((error, count) => resolve(error ? 0 : count)));
}

function tell(message: FromServer): void {
  process.send?.(message);
}

await run().catch((error: Error) => {
  tell({ kind: 'failed', reason: error.message });
  process.exitCode = 1;
  process.disconnect?.();
});
