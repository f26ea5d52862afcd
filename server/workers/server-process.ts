import { Server as NetServer } from 'node:net';
import { openLog } from '../api/plugins/log.ts';
import { closeOnSignals, openServer, prepare } from '../main.ts';
import { isMeasured } from '../metrics/endpoint.ts';
import type { ServerProcessMetrics } from '../metrics/server-process-metrics.ts';
import { readSettings, type Settings } from '../settings/settings.ts';
import { type End, type FromServer, isOfKind, NUMBER } from './messages.ts';
import { remoteCounter } from './shared-counters.ts';

/** One of the server processes that share a port. The first process starts it by `node:cluster`. */
async function run(): Promise<void> {
  // It may be told to end before it is ready.
  const told = Promise.withResolvers<End>();
  process.on('message', (message) => {
    if (isOfKind<End>(message, 'end')) told.resolve(message);
  });
  const logStream = openLog({ isShared: true });
  const counter = remoteCounter(process);
  const settings = readSettings(process.env);
  const openMetrics = () => measure(settings);
  const { app, address, opened } = await openServer(settings, { logStream, counter, openMetrics });
  const close = closeOnSignals(app.log, opened);
  process.once('exit', () => logStream.flushSync());
  void told.promise.then(({ isReplaced }) => {
    // At once, because others take new connections.
    if (isReplaced) NetServer.prototype.close.call(app.server);
    close();
  });
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

function tell(message: FromServer): void {
  process.send?.(message);
}

await run().catch((error: Error) => {
  tell({ kind: 'failed', reason: error.message });
  process.exitCode = 1;
  process.disconnect?.();
});
