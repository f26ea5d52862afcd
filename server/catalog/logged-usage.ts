import { onceAMinute } from '../runtime/once-a-minute.ts';
import type { CatalogLocation } from './location.ts';
// A file of its own, because simulations wrap what `open-usage.ts` opens.
import { openUsage } from './open-usage.ts';
import type { Usage } from './usage.ts';

/** Opens the usage database like `openUsage`, and warns of failed reads and writes at most once a minute. */
export function openLoggedUsage(
  location: CatalogLocation,
  log: { readonly warn: (details: object, message: string) => void },
): Usage {
  const warn = (error: unknown): void => log.warn({ err: error }, 'the usage database could not be read or written');
  return openUsage(location, onceAMinute(warn));
}
