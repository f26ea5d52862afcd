import type { CatalogPlace } from './place.ts';
import { PostgresUsage } from './postgres/postgres-usage.ts';
import { SqliteUsage } from './sqlite/sqlite-usage.ts';
import type { Usage } from './usage.ts';

/**
 * Opens the usage database beside the catalog of a place. Never fails.
 * @param onError called for failed reads and writes
 * @param onlyReads allows reading on a full disk
 */
export function openUsage(place: CatalogPlace, onError: (error: unknown) => void, onlyReads = false): Usage {
  if (place.catalogUrl !== '') return new PostgresUsage(place, onError);
  return new SqliteUsage(place.dataFolder, onError, onlyReads);
}
