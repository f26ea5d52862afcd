import { onceAMinute } from '../runtime/once-a-minute.ts';
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

/** Opens the usage database like `openUsage`, and warns of failed reads and writes at most once a minute. */
export function openLoggedUsage(
  location: CatalogLocation,
  log: { readonly warn: (details: object, message: string) => void },
): Usage {
  const warn = (error: unknown): void => log.warn({ err: error }, 'the usage database could not be read or written');
  return openUsage(location, onceAMinute(warn));
}
