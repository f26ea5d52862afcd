import type { Engine } from '../facts/duckdb/engine.ts';
import type { ConnectedProvider, Provider } from '../providers/provider.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { ProviderSource } from './source.ts';

/** A provider with lists. */
export type ListProvider = Provider & Required<Pick<Provider, 'lists'>>;

export function hasLists(provider: Provider): provider is ListProvider {
  return provider.lists !== undefined;
}

/** Lists from a connection to a provider. */
export function providerList({ kind, lists }: ListProvider, client: ConnectedProvider, engine: Engine): ProviderSource {
  return {
    kind: lists.source,
    provider: kind,
    async fetch(query, run) {
      using fetched = await FetchedRows.open(engine);
      const maxRows = lists.maxRows[query.kind];
      const counts = await client.fetchList!({ ...query, maxRows }, (rows) => fetched.add(rows), run);
      return { ...counts, ranked: await fetched.rank(maxRows), capped: counts.rows >= maxRows };
    },
  };
}
