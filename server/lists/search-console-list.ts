import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { ProviderRun } from '../providers/retries.ts';
import { type SearchAnalytics, sumPositionOf } from '../providers/search-analytics.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { Fetched, ListQuery, ProviderSource } from './source.ts';

/** The longest lists of the reporting API (contract, 4.8). */
const MAX_ROWS: Record<ListKind, number> = { pages: 25_000, queries: 50_000 };

const GROUPS = {
  pages: { dimensions: ['page'], aggregation: 'byPage' },
  queries: { dimensions: ['query'], aggregation: 'byProperty' },
} as const;

/** Lists from the search engine's reporting API. */
export class SearchConsoleList implements ProviderSource {
  readonly kind = 'gsc';
  readonly provider = 'search-console';
  readonly #client: SearchAnalytics;
  readonly #engine: Engine;

  constructor(client: SearchAnalytics, engine: Engine) {
    this.#client = client;
    this.#engine = engine;
  }

  async fetch({ kind, property, range, country }: ListQuery, run: ProviderRun): Promise<Fetched> {
    using fetched = await FetchedRows.open(this.#engine);
    const max = MAX_ROWS[kind];
    const filters =
      country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country } as const];
    const { rows, truncated } = await this.#client.read(
      { property, ...range, ...GROUPS[kind], filters, dataState: 'all' },
      {
        max,
        take: (found) =>
          fetched.add(found.map((row) => [row.keys[0]!, row.clicks, row.impressions, sumPositionOf(row)])),
      },
      run,
    );
    return { ranked: await fetched.rank(max), rows, truncated, capped: rows >= max, complete: true };
  }
}
