import { readdir, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import { buildApp } from './app.ts';
import { Catalog } from './catalog/catalog.ts';
import { openServingEngine } from './facts/serving-engine.ts';
import { openLog } from './http/log.ts';
import type { Settings } from './settings.ts';

/** Requests under way get this long to end after a signal to stop, in milliseconds. */
const GRACE = 20_000;

/** Opens the stores, builds the server, listens, and stops gracefully on SIGTERM and SIGINT. Returns its address. */
export async function serve(settings: Settings): Promise<string> {
  const { dataFolder } = settings;
  const catalog = new Catalog(dataFolder);
  await removeLeftovers(join(dataFolder, 'temporary'));
  const { engine, close: closeEngine } = await openServingEngine(settings);
  const logStream = openLog();
  const app = await buildApp({ settings, catalog, engine, logStream });
  const stop = async (): Promise<void> => {
    await app.close();
    await closeEngine();
    catalog.close();
    logStream.flushSync();
  };
  let address: string;
  try {
    address = await listen(app, settings);
  } catch (error) {
    await stop();
    throw error;
  }
  closeWithGrace({ delay: GRACE, logger: app.log }, async ({ err, signal }) => {
    if (err) app.log.fatal({ err }, 'stopped by an error');
    else app.log.info({ signal }, 'stopping');
    await stop();
  });
  return address;
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
