import type { OpenCatalog } from './catalog.ts';
import { SqliteCatalog } from './sqlite/sqlite-catalog.ts';

/**
 * Opens the catalog of a data folder and brings its schema up to date. Where there is none it is made, and the folder
 * with it, unless `create` is false: then that is an error. Throws `CatalogFailure`, also where there is none although
 * there are facts.
 */
export async function openCatalog(dataFolder: string, options: { create?: boolean } = {}): Promise<OpenCatalog> {
  return new SqliteCatalog(dataFolder, options);
}
