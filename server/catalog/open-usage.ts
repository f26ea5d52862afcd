import type { CatalogPlace } from './open-catalog.ts';
import { SqliteUsage } from './sqlite/sqlite-usage.ts';
import type { Usage } from './usage.ts';

/**
 * Opens the usage database beside the catalog of a place. Never fails.
 * @param onError called for failed reads and writes
 */
export function openUsage({ dataFolder }: CatalogPlace, onError: (error: unknown) => void): Usage {
  return new SqliteUsage(dataFolder, onError);
}
