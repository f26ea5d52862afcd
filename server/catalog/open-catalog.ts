import type { OpenCatalog } from './catalog.ts';
import { SqliteCatalog } from './sqlite/sqlite-catalog.ts';

/** Where the catalog and the usage database are; the settings of a service say it. */
export interface CatalogPlace {
  readonly dataFolder: string;
  /** The address of a PostgreSQL database; empty for SQLite in the data folder. */
  readonly catalogUrl: string;
}

/** The place of a catalog in SQLite, whatever the settings say. */
export function sqliteIn(dataFolder: string): CatalogPlace {
  return { dataFolder, catalogUrl: '' };
}

/**
 * Opens a catalog and migrates its schema. Creates a missing folder and catalog, unless `create` is false. Throws
 * `CatalogFailure`, also for a missing catalog if there are facts.
 */
export async function openCatalog(
  { dataFolder, catalogUrl }: CatalogPlace,
  options: { create?: boolean } = {},
): Promise<OpenCatalog> {
  if (catalogUrl !== '') throw new Error('ORDINATE_CATALOG: this version has no catalog in PostgreSQL.');
  return new SqliteCatalog(dataFolder, options);
}
