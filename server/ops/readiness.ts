import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog, OpenCatalog } from '../catalog/catalog.ts';
import { findAnyFactFile } from '../catalog/fact-files.ts';
import { unavailable } from '../domain/errors.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { FileStore } from '../storage/file-store.ts';
import { findShortage } from '../storage/free-space.ts';

/** What the service needs to be ready. */
export interface Readiness {
  readonly catalog: OpenCatalog;
  readonly engine: Engine;
  readonly files: FileStore;
  readonly dataFolder: string;
  /** Bytes that must be free on the disk of the data folder. */
  readonly minFree: number;
}

/** Throws `unavailable` with the problem if the service cannot answer or write. */
export async function checkReadiness(
  { catalog, engine, files, dataFolder, minFree }: Readiness,
  signal: AbortSignal,
): Promise<void> {
  await step('its catalog does not answer', async () => {
    await catalog.check();
    await catalog.version();
  });
  await step('its query engine does not answer', () => engine.query('facts/ping', {}, signal));
  await step('its data folder cannot be written', () => tryWriting(dataFolder));
  await step('its fact files cannot be opened', () => openFacts(catalog, files));
  const shortage = await step('the free space of its disk is not known', () => findShortage(dataFolder, minFree));
  if (shortage !== undefined) throw notReady(shortage);
}

async function step<T>(problem: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw notReady(problem, cause);
  }
}

function notReady(problem: string, cause?: unknown): Error {
  return unavailable(`The service is not ready: ${problem}.`, 'not-ready', cause);
}

/** Writes to the folder of temporary files: DuckDB spills data there. */
async function tryWriting(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'temporary', `writable-${process.pid}`);
  try {
    // A full disk still takes an empty file.
    await writeFile(file, 'ready');
  } finally {
    await rm(file, { force: true });
  }
}

/** Opens any one file of the manifest: a lost volume or lost permissions affect all of them. */
async function openFacts(catalog: Catalog, files: FileStore): Promise<void> {
  const name = await findAnyFactFile(catalog);
  if (name !== undefined) await files.reach(name);
}
