import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../server/app.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { Engine } from '../server/facts/duckdb/engine.ts';
import { readSettings } from '../server/settings/settings.ts';

/** The OpenAPI document of the server. */
export async function openapiDocument(): Promise<object> {
  await using opened = new AsyncDisposableStack();
  const dataFolder = mkdtempSync(join(tmpdir(), 'ordinate-openapi-'));
  opened.defer(() => rmSync(dataFolder, { recursive: true }));
  const settings = readSettings({ ORDINATE_DATA: dataFolder, ORDINATE_LOG_LEVEL: 'silent' });
  const catalog = opened.adopt(await openCatalog(settings), (opening) => opening.close());
  const options = { ...settings, temporaryFolder: join(dataFolder, 'temporary'), folders: [] };
  const engine = opened.adopt(await Engine.open(options), (opening) => opening.close());
  const app = opened.adopt(await buildApp({ settings, catalog, engine, logStream: process.stderr }), (built) =>
    built.close(),
  );
  await app.ready();
  return app.swagger();
}
