import type { OpenCatalog } from './catalog.ts';
import type { CatalogLocation } from './location.ts';
import { SqliteCatalog } from './sqlite/sqlite-catalog.ts';

/**
 * Opens a catalog and migrates its schema. Creates a missing folder and catalog, unless `create` is false. Throws
 * `CatalogFailure`, also for a missing catalog if there are facts.
 */
export async function openCatalog(
  location: CatalogLocation,
  { create = true }: { create?: boolean } = {},
): Promise<OpenCatalog> {
  if (location.catalogUrl === '') return new SqliteCatalog(location.dataFolder, { create });
  // The driver is loaded only if it is used.
  const { openPostgres } = await import('./postgres/postgres-catalog.ts');
  return openPostgres(location, { create });
}
