import { globSync, rmSync } from 'node:fs';
import type { Test } from 'tap';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { Journal } from '../../server/load/journal.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { LocalFiles } from '../../server/storage/local-files.ts';

/** Loses a closed catalog twice. What `read` finds after a rebuild from the journal's changes, and from a checkpoint of them. */
export async function readRebuilt<T>(
  t: Test,
  dataFolder: string,
  read: (catalog: Catalog) => Promise<T>,
): Promise<{ fromChanges: T; fromCheckpoint: T }> {
  const rebuilt = async (change: (catalog: Catalog) => Promise<void>): Promise<T> => {
    for (const file of globSync(`${dataFolder}/catalog.sqlite*`)) rmSync(file);
    t.match(await rebuild(dataFolder), { rebuilt: 'catalog' });
    await using again = await openCatalog(sqliteIn(dataFolder));
    await change(again);
    return await read(again);
  };
  const fromChanges = await rebuilt((of) => new Journal(new LocalFiles(dataFolder)).checkpoint(of));
  t.equal(globSync(`${dataFolder}/facts/journal/*`).length, 1);
  return { fromChanges, fromCheckpoint: await rebuilt(async () => {}) };
}
