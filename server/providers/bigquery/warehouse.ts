import { LRUCache } from 'lru-cache';
import type { Connection } from '../../catalog/connections.ts';
import type { ListKind } from '../../catalog/stored-lists.ts';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import { countDays, type Day, eachDay } from '../../domain/dates.ts';
import { sqlTemplate } from '../../runtime/sql.ts';
import { ProviderFailure } from '../failures.ts';
import type { ConnectedProvider, FetchedCounts, ListQuery, ProviderContext, ProviderRow } from '../provider.ts';
import type { ProviderRun } from '../retries.ts';
import { type Parameters as Bound, type Cell, Dataset } from './dataset.ts';

/** How long the days of an export are cached, in milliseconds. */
const DAYS_TTL = 600_000;

const URL_TABLE = 'searchdata_url_impression';
const SITE_TABLE = 'searchdata_site_impression';
const LOG_TABLE = 'ExportLog';

/** The table for pages or queries of a property. */
interface Origin {
  readonly table: string;
  readonly days: ReadonlySet<Day>;
}

/** The search engine's bulk export in BigQuery, for one connection. */
export class Warehouse implements ConnectedProvider {
  readonly #dataset: Dataset;
  readonly #origins = new LRUCache<CacheKey, Origin>({ max: 1000, ttl: DAYS_TTL });

  constructor(connection: Connection, context: ProviderContext) {
    this.#dataset = new Dataset(connection, context);
  }

  async test(property: string, _yesterday: Day, run: ProviderRun): Promise<{ found: string; advice?: string }> {
    const { table, days } = await this.#origin('queries', property, run);
    const sorted = [...days].sort();
    const first = sorted[0];
    const last = sorted.at(-1);
    if (first === undefined || last === undefined) {
      return {
        found: `The dataset can be read, and the export has not written a day of ${table} yet.`,
        advice: 'Enable the export for this property, or wait: its first day arrives within two days.',
      };
    }
    const gaps = countDays(first, last) - days.size;
    const missing = gaps === 0 ? '' : `, ${gaps} of them missing`;
    return { found: `The warehouse has the days ${first} to ${last}${missing}; queries come from ${table}.` };
  }

  async fetchList(...[query, take, run]: Parameters<Required<ConnectedProvider>['fetchList']>): Promise<FetchedCounts> {
    const { kind, property, range, country, pair, maxRows } = query;
    // Only rows counted by page have both.
    const { table, days: written } = await this.#origin(pair === null ? kind : 'pages', property, run);
    const complete = checkCoverage(query, written);
    const file = kind === 'pages' ? 'pages_from_url' : table === SITE_TABLE ? 'queries_from_site' : 'queries_from_url';
    const names = { url_impression: this.#dataset.table(URL_TABLE), site_impression: this.#dataset.table(SITE_TABLE) };
    // One additional row shows whether the list is truncated.
    const max = maxRows + 1;
    const days = { from: { day: range.from }, to: { day: range.to } };
    const limits = file === 'queries_from_site' ? {} : { pair: pair?.of ?? '', device: pair?.device ?? '' };
    const parameters = { ...days, site: property, country: country ?? '', ...limits, max };
    let count = 0;
    for await (const rows of this.#dataset.rows(sqlTemplate(`bigquery/${file}`, names), parameters, run)) {
      count += rows.length;
      if (count > max) throw new ProviderFailure('broken', 'the response has more rows than requested');
      await take(rows.map(readRow));
    }
    return { rows: Math.min(count, maxRows), truncated: count > maxRows, complete };
  }

  /** The table for a kind of rows, and its days. Queries prefer rows aggregated by property. */
  async #origin(kind: ListKind, property: string, run: ProviderRun): Promise<Origin> {
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
    const [query, parameters]: [string, Bound] = hasLog
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

function readRow([text, clicks, impressions, sumPosition]: readonly Cell[]): ProviderRow {
  const row = [Number(clicks), Number(impressions), Number(sumPosition)];
  if (typeof text !== 'string' || !row.every((value) => Number.isSafeInteger(value))) {
    throw new ProviderFailure('broken', 'the response has a row without its text or numbers');
  }
  return [text, row[0]!, row[1]!, row[2]!];
}

/** Whether all days are available. Throws `not-covered` unless only the newest are missing and `allowMissingRecentDays`. */
function checkCoverage({ range, allowMissingRecentDays }: ListQuery, days: ReadonlySet<Day>): boolean {
  const missing = eachDay(range.from, range.to).filter((day) => !days.has(day));
  const [first] = missing;
  if (first === undefined) return true;
  const lastDay = [...days].reduce((last, day) => (day > last ? day : last), '');
  if (allowMissingRecentDays && first > lastDay && days.has(range.from)) return false;
  throw new ProviderFailure('not-covered', `the export has not written ${missing.length} days of the range (${first})`);
}
