import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { buildApp } from './app.ts';
import { Catalog } from './catalog/catalog.ts';
import { Engine } from './facts/engine.ts';
import { openLog } from './http/log.ts';
import type { Settings } from './settings.ts';

/** Requests under way get this long to end after a signal to stop, in milliseconds. */
const GRACE = 20_000;

/** Opens the stores, builds the server, listens, and stops gracefully on SIGTERM and SIGINT. Returns its address. */
export async function serve(settings: Settings): Promise<string> {
  const { dataFolder } = settings;
  const catalog = new Catalog(dataFolder);
  await removeLeftovers(join(dataFolder, 'temporary'));
  const temporaryFolder = join(dataFolder, 'temporary', `${hostname()}-${process.pid}`);
  const engine = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: settings.threads,
    temporaryFolder,
    folders: [join(dataFolder, 'facts'), join(dataFolder, 'lists')],
  });
  const logStream = openLog();
  const app = await buildApp({ settings, catalog, engine, logStream });
  closeWithGrace({ delay: GRACE, logger: app.log }, async ({ err, signal }) => {
    if (err) app.log.fatal({ err }, 'stopped by an error');
    else app.log.info({ signal }, 'stopping');
    await app.close();
    engine.close();
    catalog.close();
    await rm(temporaryFolder, { recursive: true, force: true });
    logStream.flushSync();
  });
  return app.listen({ host: settings.host, port: settings.port });
}

/** Removes what DuckDB had put aside in server processes of this machine that have ended without cleaning up. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, host, pid] = /^(.*)-(\d+)$/.exec(name) ?? [];
    if (host !== hostname() || isRunning(Number(pid))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
