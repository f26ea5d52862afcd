import type { CatalogLocation } from './location.ts';
import { PostgresUsage } from './postgres/postgres-usage.ts';
import { SqliteUsage } from './sqlite/sqlite-usage.ts';
import type { Usage } from './usage.ts';

/**
 * Opens the usage database beside the catalog of a location. Never fails.
 * @param onError called for failed reads and writes
 * @param onlyReads allows reading on a full disk
 */
export function openUsage(location: CatalogLocation, onError: (error: unknown) => void, onlyReads = false): Usage {
  if (location.catalogUrl !== '') return new PostgresUsage(location, onError);
  return new SqliteUsage(location.dataFolder, onError, onlyReads);
}
