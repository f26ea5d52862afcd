import { BIGQUERY } from './bigquery/provider.ts';
import { BING } from './bing/provider.ts';
import type { Provider } from './provider.ts';
import { SEARCH_CONSOLE } from './search-console/provider.ts';

/** All providers, in the order of the help. Commands, connections, lists and the documentation follow from it. */
export const PROVIDERS: readonly Provider[] = [
  // One per line.
  SEARCH_CONSOLE,
  BIGQUERY,
  BING,
];

/** Throws for a kind that this version does not have. */
export function providerOf(kind: string): Provider {
  const provider = PROVIDERS.find((one) => one.kind === kind);
  if (provider === undefined) throw new Error(`This version has no provider '${kind}'.`);
  return provider;
}
