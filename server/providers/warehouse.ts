import { LRUCache } from 'lru-cache';
import type { Connection } from '../catalog/connections.ts';
import type { ListKind } from '../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Day } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type BigQueryOptions, type Cell, Dataset, type Parameters } from './bigquery-client.ts';
import { ProviderFailure } from './failures.ts';
import type { ProviderRun } from './retries.ts';

/** How long the days of an export are cached, in milliseconds. */
const DAYS_TTL = 600_000;

const URL_TABLE = 'searchdata_url_impression';
const SITE_TABLE = 'searchdata_site_impression';
const LOG_TABLE = 'ExportLog';

/** The table for pages or queries of a property. */
export interface Origin {
  readonly table: string;
  readonly days: ReadonlySet<Day>;
}

/** Pages or queries with their sums, best first. */
interface RankedQuery {
  readonly kind: ListKind;
  readonly property: string;
  readonly range: Range;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  /** Rows. */
  readonly max: number;
}

/** A page or query with its clicks, impressions and zero-based sum of positions. */
export type WarehouseRow = readonly [text: string, clicks: number, impressions: number, sumPosition: number];

/** The search engine's bulk export in BigQuery, for one connection. */
export class Warehouse {
  readonly #dataset: Dataset;
  readonly #origins = new LRUCache<CacheKey, Origin>({ max: 1000, ttl: DAYS_TTL });

  constructor(connection: Connection, options: BigQueryOptions) {
    this.#dataset = new Dataset(connection, options);
  }

  /** The best rows of a range, in batches. Throws `ProviderFailure`. */
  async *rows({ kind, property, range, country, max }: RankedQuery, run: ProviderRun): AsyncGenerator<WarehouseRow[]> {
    const { table } = await this.origin(kind, property, run);
    const file = kind === 'pages' ? 'pages_from_url' : table === SITE_TABLE ? 'queries_from_site' : 'queries_from_url';
    const names = { url_impression: this.#dataset.table(URL_TABLE), site_impression: this.#dataset.table(SITE_TABLE) };
    const days = { from: { day: range.from }, to: { day: range.to } };
    const parameters = { ...days, site: property, country: country ?? '', max };
    let count = 0;
    for await (const rows of this.#dataset.rows(sqlTemplate(`bigquery/${file}`, names), parameters, run)) {
      count += rows.length;
      if (count > max) throw new ProviderFailure('broken', 'the response has more rows than requested');
      yield rows.map(readRow);
    }
  }

  /** The table for a kind of rows, and its days. Queries prefer rows aggregated by property. */
  async origin(kind: ListKind, property: string, run: ProviderRun): Promise<Origin> {
    const key = cacheKey(kind, property);
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      const tables = await this.#dataset.tables(run);
      const table = kind === 'queries' && tables.has(SITE_TABLE) ? SITE_TABLE : URL_TABLE;
      if (!tables.has(table)) {
        throw new ProviderFailure('misconfigured', `the dataset has no table ${table}; is it the one of the export?`);
      }
      origin = { table, days: await this.#days(table, tables.has(LOG_TABLE), property, run) };
      this.#origins.set(key, origin);
    }
    return origin;
  }

  /** The days written by the export. Other days are unknown, not empty. */
  async #days(table: string, hasLog: boolean, site: string, run: ProviderRun): Promise<ReadonlySet<Day>> {
    const [query, parameters]: [string, Parameters] = hasLog
      ? [
          sqlTemplate('bigquery/days_of_log', { export_log: this.#dataset.table(LOG_TABLE) }),
          { namespace: table.toUpperCase() },
        ]
      : [sqlTemplate('bigquery/days_of_table', { table: this.#dataset.table(table) }), { site }];
    const days = new Set<Day>();
    for await (const rows of this.#dataset.rows(query, parameters, run)) {
      for (const [day] of rows) days.add(day ?? '');
    }
    return days;
  }
}

function readRow([text, clicks, impressions, sumPosition]: readonly Cell[]): WarehouseRow {
  const row = [Number(clicks), Number(impressions), Number(sumPosition)];
  if (typeof text !== 'string' || !row.every((value) => Number.isSafeInteger(value))) {
    throw new ProviderFailure('broken', 'the response has a row without its text or numbers');
  }
  return [text, row[0]!, row[1]!, row[2]!];
}
