// Writes the OpenAPI document that the server would serve to openapi.json, for the linter.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../server/app.ts';
import { Catalog } from '../server/catalog/catalog.ts';
import { Engine } from '../server/facts/engine.ts';
import { readSettings } from '../server/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'ordinate-openapi-'));
const settings = readSettings({ ORDINATE_DATA: folder, ORDINATE_LOG_LEVEL: 'silent' });
const catalog = new Catalog(folder);
const { memoryLimit, threads } = settings;
const engine = await Engine.open({ memoryLimit, threads, temporaryFolder: join(folder, 'temporary'), folders: [] });
const app = await buildApp({ settings, catalog, engine, logStream: process.stderr });
await app.ready();
writeFileSync('openapi.json', JSON.stringify(app.swagger(), null, 2));
await app.close();
engine.close();
catalog.close();
rmSync(folder, { recursive: true });
