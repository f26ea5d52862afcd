import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { buildApp } from '../../server/app.ts';
import { lastPublication } from '../../server/catalog/fact-files.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { answersOf } from '../load/snapshots.ts';
import { NOW, ONE_THREAD, sharedEngine } from '../world.ts';

/** All files below a folder, sorted; locks are not data. */
export function filesIn(folder: string): string[] {
  return globSync('**/*', { cwd: folder })
    .filter((file) => !/\.lock$/.test(file) && statSync(join(folder, file)).isFile())
    .sort();
}

/** What a server of a data folder answers, and the last publication of its catalog. */
export async function served(
  _t: Test,
  dataFolder: string,
  key: string,
): Promise<{ publication: number; answers: Record<string, unknown> }> {
  const settings = readSettings({ ...ONE_THREAD, ORDINATE_DATA: dataFolder });
  await using catalog = await openCatalog(sqliteIn(dataFolder), { create: false });
  const { number } = await lastPublication(catalog);
  const logStream = { write: () => {} };
  const app = await buildApp({ settings, catalog, engine: await sharedEngine(settings), logStream, now: () => NOW });
  try {
    const answers = await answersOf({
      get: async (path) => {
        const headers = { authorization: `Bearer ${key}` };
        const response = await app.inject({ method: 'GET', url: `/api/v1${path}`, headers });
        return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) as unknown };
      },
    });
    return { publication: number, answers };
  } finally {
    await app.close();
  }
}
