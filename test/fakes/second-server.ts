import type { Test } from 'tap';
import { buildApp } from '../../server/app.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { openUsage } from '../../server/catalog/open-usage.ts';
import { sweepLists } from '../../server/lists/sweep.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { environmentOf } from '../process.ts';
import { changeCatalog } from '../stores.ts';
import { type Answer, sharedEngine, type World } from '../world.ts';

interface ServerHere {
  readonly get: (path: string, key: string) => Promise<Answer>;
  readonly log: string[];
  readonly stop: () => Promise<void>;
}

/** Like `startServer`, in this process, which costs a tenth of a separate one: for what a server answers. */
export function serveHere(t: Test, settings: NodeJS.ProcessEnv, now?: () => number): Promise<ServerHere> {
  return serve(t, readSettings(environmentOf(settings)), now);
}

async function serve(t: Test, settings: Settings, now?: () => number): Promise<ServerHere> {
  const catalog = await openCatalog(settings);
  const engine = await sharedEngine(settings);
  const log: string[] = [];
  const logStream = { write: (line: string) => void log.push(line) };
  const app = await buildApp({ settings, catalog, engine, logStream, ...(now === undefined ? {} : { now }) });
  let isRunning = true;
  const stop = async (): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    await app.close();
    await catalog.close();
  };
  t.teardown(stop);
  const get = async (path: string, key: string): Promise<Answer> => {
    const response = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${key}` } });
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) as unknown };
  };
  return { get, log, stop };
}

export interface SecondServer extends Pick<ServerHere, 'log' | 'stop'> {
  /** Asks about the project `Proj1`. */
  readonly ask: (path: string) => Promise<Answer>;
}

/** Another server over the data folder of a world, as another process has one. */
export async function startSecondServer(
  t: Test,
  { settings, key, now }: World & { now?: () => number },
): Promise<SecondServer> {
  const { get, log, stop } = await serve(t, settings, now);
  return { ask: (path) => get(`/projects/Proj1${path}`, key), log, stop };
}

/** What the background job does every few minutes, in a process of its own. */
export async function sweep({ settings, now = Date.now }: World & { now?: () => number }): Promise<void> {
  await using catalog = await openCatalog(settings);
  const fail = (error: unknown): never => {
    throw error;
  };
  const usage = openUsage(settings, fail);
  try {
    await sweepLists({ catalog, usage, settings, log: { warn: fail }, now });
  } finally {
    await usage.close();
  }
}

/** Makes retired files of lists older, by milliseconds. */
export function retireBy({ settings }: World, milliseconds: number): Promise<void> {
  return changeCatalog(settings, `update retired_lists set retired_at = retired_at - ${milliseconds} * 1000`);
}
