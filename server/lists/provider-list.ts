import type { Connection } from '../catalog/connections.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { Provider } from '../providers/provider.ts';
import type { Providers } from '../providers/providers.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { ProviderSource } from './source.ts';

/** A provider with lists. */
export type ListProvider = Provider & Required<Pick<Provider, 'lists'>>;

export function hasLists(provider: Provider): provider is ListProvider {
  return provider.lists !== undefined;
}

/** Lists from a connection to a provider. */
export function providerList(
  provider: ListProvider,
  connection: Connection,
  { providers, engine }: { readonly providers: Providers; readonly engine: Engine },
): ProviderSource {
  const { kind, lists } = provider;
  const client = providers.connect(provider, connection);
  return {
    kind: lists.source,
    provider: kind,
    limited: async () => client.limitedBy?.(),
    async fetch(query, run) {
      using fetched = await FetchedRows.open(engine);
      const maxRows = lists.maxRows[query.kind];
      const counts = await client.fetchList!({ ...query, maxRows }, (rows) => fetched.add(rows), run);
      return { ...counts, ranked: await fetched.rank(maxRows), capped: counts.rows >= maxRows };
    },
  };
}
