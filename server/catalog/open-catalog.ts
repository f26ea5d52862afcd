import type { OpenCatalog, OpenCatalogOptions } from './catalog.ts';
import type { CatalogLocation } from './location.ts';
import { SqliteCatalog } from './sqlite/sqlite-catalog.ts';

/**
 * Opens a catalog and migrates its schema. Throws `CatalogFailure`, also for a missing catalog if there are facts, and for
 * one that is older than what is beside the facts.
 */
export async function openCatalog(
  location: CatalogLocation,
  { create = true, mayBeOlder = false }: OpenCatalogOptions = {},
): Promise<OpenCatalog> {
  if (location.catalogUrl === '') {
    const catalog = new SqliteCatalog(location.dataFolder, { create, mayBeOlder });
    if (!mayBeOlder) await catalog.catchUp();
    return catalog;
  }
  // The driver is loaded only if it is used.
  const { openPostgres } = await import('./postgres/postgres-catalog.ts');
  return openPostgres(location, { create });
}
