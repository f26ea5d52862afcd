import type { OpenCatalog } from './catalog.ts';
import { SqliteCatalog } from './sqlite/sqlite-catalog.ts';

/**
 * Opens the catalog of a data folder and migrates its schema. Creates a missing folder and catalog, unless `create` is false.
 * Throws `CatalogFailure`, also for a missing catalog if there are facts.
 */
export async function openCatalog(dataFolder: string, options: { create?: boolean } = {}): Promise<OpenCatalog> {
  return new SqliteCatalog(dataFolder, options);
}
