import { LRUCache } from 'lru-cache';
import type { Connection } from '../catalog/connections.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type Day, eachDay } from '../domain/dates.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../sql.ts';
import { type BigQueryOptions, type Cell, Dataset, dayParameter, type Parameters } from './bigquery-client.ts';
import { ProviderFailure } from './failures.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { Attempts } from './retries.ts';
import type { Fetched, ListQuery, Source } from './source.ts';

/** The longest list of a warehouse (contract, 4.8). */
const MAX_ROWS = 100_000;

/** How long it is believed which days the export has written, in milliseconds. */
const DAYS_BELIEVED = 600_000;

const URL_TABLE = 'searchdata_url_impression';
const SITE_TABLE = 'searchdata_site_impression';
const LOG_TABLE = 'ExportLog';

/** What a kind of list is read from. */
interface Origin {
  readonly table: string;
  readonly days: ReadonlySet<Day>;
}

/** Lists from the search engine's bulk export in BigQuery. */
export class Warehouse implements Source {
  readonly kind = 'bigquery';
  readonly name = 'bigquery';
  readonly #dataset: Dataset;
  readonly #engine: Engine;
  readonly #origins = new LRUCache<CacheKey, Origin>({ max: 1000, ttl: DAYS_BELIEVED });

  constructor(connection: Connection, options: BigQueryOptions & { readonly engine: Engine }) {
    this.#dataset = new Dataset(connection, options);
    this.#engine = options.engine;
  }

  async fetch(query: ListQuery, attempts: Attempts): Promise<Fetched> {
    const { kind, property, range, country } = query;
    const { table, days } = await this.origin(query, attempts);
    const complete = checkCoverage(query, days);
    const file = kind === 'pages' ? 'pages_from_url' : table === SITE_TABLE ? 'queries_from_site' : 'queries_from_url';
    const names = { url_impression: this.#dataset.table(URL_TABLE), site_impression: this.#dataset.table(SITE_TABLE) };
    const span = { from: dayParameter(range.from), to: dayParameter(range.to) };
    const params = { ...span, site: property, country: country ?? '', most: MAX_ROWS + 1 };
    using fetched = await FetchedRows.open(this.#engine);
    let count = 0;
    for await (const rows of this.#dataset.rows(sqlTemplate(`bigquery/${file}`, names), params, attempts)) {
      await fetched.add(rows.map(readRow));
      count += rows.length;
      if (count > MAX_ROWS + 1) throw new ProviderFailure('broken', 'the answer has more rows than were asked for');
    }
    const rows = Math.min(count, MAX_ROWS);
    return {
      ranked: await fetched.rank(MAX_ROWS),
      rows,
      truncated: count > MAX_ROWS,
      capped: count >= MAX_ROWS,
      complete,
    };
  }

  /** The table that a kind of list is read from, and the days it has. Queries prefer the rows counted by property. */
  async origin({ kind, property }: Pick<ListQuery, 'kind' | 'property'>, attempts: Attempts): Promise<Origin> {
    const key = cacheKey(kind, property);
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      const tables = await this.#dataset.tables(attempts);
      const table = kind === 'queries' && tables.has(SITE_TABLE) ? SITE_TABLE : URL_TABLE;
      if (!tables.has(table)) {
        throw new ProviderFailure('misconfigured', `the dataset has no table ${table}; is it the one of the export?`);
      }
      origin = { table, days: await this.#days(table, tables.has(LOG_TABLE), property, attempts) };
      this.#origins.set(key, origin);
    }
    return origin;
  }

  /** A day that the export did not write is unknown, not empty. */
  async #days(table: string, hasLog: boolean, site: string, attempts: Attempts): Promise<ReadonlySet<Day>> {
    const [query, params]: [string, Parameters] = hasLog
      ? [
          sqlTemplate('bigquery/days_of_log', { export_log: this.#dataset.table(LOG_TABLE) }),
          { namespace: table.toUpperCase() },
        ]
      : [sqlTemplate('bigquery/days_of_table', { table: this.#dataset.table(table) }), { site }];
    const days = new Set<Day>();
    for await (const rows of this.#dataset.rows(query, params, attempts)) {
      for (const [day] of rows) days.add(day ?? '');
    }
    return days;
  }
}

/** Whether all days are there. Throws where they are not; only the newest may lack, where no other source can answer. */
function checkCoverage({ range, allowMissingRecentDays }: ListQuery, days: ReadonlySet<Day>): boolean {
  const missing = eachDay(range.from, range.to).filter((day) => !days.has(day));
  const [first] = missing;
  if (first === undefined) return true;
  const lastDay = [...days].reduce((last, day) => (day > last ? day : last), '');
  if (allowMissingRecentDays && first > lastDay && days.has(range.from)) return false;
  throw new ProviderFailure('not-covered', `the export has not written ${missing.length} days of the range (${first})`);
}

function readRow([text, clicks, impressions, sumPosition]: readonly Cell[]): [string, number, number, number] {
  const row = [Number(clicks), Number(impressions), Number(sumPosition)];
  if (typeof text !== 'string' || !row.every((value) => Number.isSafeInteger(value))) {
    throw new ProviderFailure('broken', 'the answer has a row without its text or numbers');
  }
  return [text, row[0]!, row[1]!, row[2]!];
}
