import { searchconsole } from '@googleapis/searchconsole';
import type { Connection } from '../catalog/connections.ts';
import type { ListKind } from '../catalog/stored-lists.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { ProviderFailure } from './failures.ts';
import { FetchedRows } from './fetched-rows.ts';
import type { Identities } from './google-auth.ts';
import { MAX_ANSWER_BYTES, requestAs } from './google-request.ts';
import type { Attempts } from './retries.ts';
import type { Fetched, ListQuery, Source } from './source.ts';
import { readThroughTies } from './tie-paging.ts';

/** The longest lists of the reporting API (contract, 4.8). */
const MAX_ROWS: Record<ListKind, number> = { pages: 25_000, queries: 50_000 };

/** The most rows that one request may ask for. */
const ROWS_PER_REQUEST = 25_000;

const SHAPES: Record<ListKind, { dimensions: string[]; aggregationType: string }> = {
  pages: { dimensions: ['page'], aggregationType: 'byPage' },
  queries: { dimensions: ['query'], aggregationType: 'byProperty' },
};

interface Row {
  readonly text: string;
  readonly clicks: number;
  readonly impressions: number;
  readonly sumPosition: number;
}

export interface SearchConsoleOptions {
  readonly engine: Engine;
  readonly identities: Identities;
  /** Milliseconds that one request may take. */
  readonly timeLimit: number;
}

/** Lists from the search engine's reporting API, through its own client library. */
export class SearchConsole implements Source {
  readonly kind = 'gsc';
  readonly name = 'search-console';
  readonly #connection: Connection;
  readonly #options: SearchConsoleOptions;

  constructor(connection: Connection, options: SearchConsoleOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async fetch(query: ListQuery, attempts: Attempts): Promise<Fetched> {
    using fetched = await FetchedRows.open(this.#options.engine);
    const max = MAX_ROWS[query.kind];
    const { rows, truncated } = await readThroughTies<Row>({
      max,
      limit: ROWS_PER_REQUEST,
      page: (start, limit) => this.page(query, { start, limit }, attempts),
      take: (found) =>
        fetched.add(
          found.map(({ text, clicks, impressions, sumPosition }) => [text, clicks, impressions, sumPosition]),
        ),
    });
    return { ranked: await fetched.rank(max), rows, truncated, capped: rows >= max, complete: true };
  }

  /** Some rows of a list, in the provider's order; fewer than `limit` at its end. */
  async page(query: ListQuery, { start, limit }: { start: number; limit: number }, attempts: Attempts) {
    const { property, range, kind, country } = query;
    const identity = await this.#options.identities.of(this.#connection);
    const { endpoint } = this.#connection;
    const api = searchconsole({ version: 'v1', ...(endpoint === null ? {} : { rootUrl: endpoint }) });
    const filters = country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }];
    const requestBody = {
      startDate: range.from,
      endDate: range.to,
      ...SHAPES[kind],
      type: 'web',
      dataState: 'all',
      rowLimit: limit,
      startRow: start,
      ...(filters.length > 0 ? { dimensionFilterGroups: [{ groupType: 'and', filters }] } : {}),
    };
    const ask = async (): Promise<Row[]> => {
      // The library's own sign-in would repeat requests that are refused, those over quota too.
      const headers = await identity.client.getRequestHeaders();
      const { data } = await api.searchanalytics.query(
        { siteUrl: property, requestBody },
        {
          headers,
          timeout: this.#options.timeLimit,
          signal: attempts.signal,
          retry: false,
          responseType: 'json',
          maxContentLength: MAX_ANSWER_BYTES,
        },
      );
      return readRows(data, limit);
    };
    return requestAs(identity, attempts, [property], ask);
  }
}

/** The rows of an answer; it has none where there is nothing. Averages become sums, so that nothing is lost to them. */
function readRows(data: unknown, limit: number): Row[] {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    throw new ProviderFailure('broken', 'the answer is not a JSON document');
  }
  const { rows = [] } = data as { rows?: unknown };
  if (!Array.isArray(rows)) throw new ProviderFailure('broken', 'the answer has rows that are no list');
  if (rows.length > limit) throw new ProviderFailure('broken', 'the answer has more rows than were asked for');
  return rows.map(readRow);
}

function readRow(row: unknown): Row {
  const { keys, clicks, impressions, position } = (row ?? {}) as Readonly<Record<string, unknown>>;
  const text: unknown = Array.isArray(keys) ? keys[0] : undefined;
  if (typeof text !== 'string' || !isMeasure(clicks) || !isMeasure(impressions) || !isMeasure(position)) {
    throw new ProviderFailure('broken', 'the answer has a row without its key or numbers');
  }
  const views = Math.round(impressions);
  const sumPosition = Math.max(0, Math.round((position - 1) * views));
  return { text, clicks: Math.round(clicks), impressions: views, sumPosition };
}

function isMeasure(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
