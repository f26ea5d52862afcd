import type { CatalogLocation } from './location.ts';
import { openUsage } from './open-usage.ts';
import type { Usage } from './usage.ts';

/** Opens the usage database like `openUsage`, and warns of failed reads and writes at most once a minute. */
export function openLoggedUsage(
  location: CatalogLocation,
  log: { readonly warn: (details: object, message: string) => void },
): Usage {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return openUsage(location, (error) => {
    if (performance.now() - warnedAt < 60_000) return;
    warnedAt = performance.now();
    log.warn({ err: error }, 'the usage database could not be read or written');
  });
}
