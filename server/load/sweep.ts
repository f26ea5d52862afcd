import { readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { toMicroseconds } from '../domain/instants.ts';

/** Longer than any request may take: files replaced by a load can still be read by requests that began before it. */
const GRACE = 3_700_000;

/**
 * Removes what is not needed any more: staged files and fact files of loads that did not end, and files that a load
 * replaced a while ago. Only while holding the load lock: nobody else is writing files then.
 */
export async function sweep(catalog: Catalog, dataFolder: string): Promise<void> {
  const before = toMicroseconds(Date.now() - GRACE);
  await rm(join(dataFolder, 'staging'), { recursive: true, force: true });
  catalog.run('retired_forget', { before });
  const facts = join(dataFolder, 'facts');
  const entries = await readdir(facts, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = relative(dataFolder, path).replaceAll('\\', '/');
    if (catalog.get('current_files', { file, before }) === undefined) await rm(path);
  }
}
