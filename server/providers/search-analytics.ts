import type { searchconsole_v1 } from '@googleapis/searchconsole';
import type { Connection } from '../catalog/connections.ts';
import { type Day, parseDay } from '../domain/dates.ts';
import { type AnalyticsQuery, checkQuery, toRequestBody } from './analytics-query.ts';
import { ProviderFailure } from './failures.ts';
import type { Identities, Identity } from './google-auth.ts';
import { MAX_ANSWER_BYTES, requestAs } from './google-request.ts';
import type { ProviderRun } from './retries.ts';
import { type PagedRows, readThroughTies } from './ties.ts';

/** The most rows that one request may ask for. A page is short when it has fewer than were asked for. */
const MAX_ROWS_PER_REQUEST = 25_000;

export interface AnalyticsRow {
  /** A value of each dimension, in the order in which the query names them. */
  readonly keys: readonly string[];
  readonly clicks: number;
  readonly impressions: number;
  /** The average, counted from 1, as the provider gives it; 0 without impressions. */
  readonly position: number;
}

interface AnalyticsPage {
  readonly rows: readonly AnalyticsRow[];
  /**
   * The first day whose data is not final; null where all of it is or the provider does not say. It says so only where
   * the query groups by date and its `dataState` is `all`.
   */
  readonly firstIncompleteDate: Day | null;
}

interface Paging {
  /** Rows to read in all. */
  readonly max: number;
  /** Takes rows that did not come before, in the provider's order. */
  readonly take: (rows: readonly AnalyticsRow[]) => Promise<void>;
}

export type AnalyticsResult = PagedRows & Pick<AnalyticsPage, 'firstIncompleteDate'>;

/** A property that credentials lead to. */
export interface Site {
  readonly property: string;
  /** As the provider names it, such as `siteOwner`, `siteFullUser`, `siteRestrictedUser` or `siteUnverifiedUser`. */
  readonly permission: string;
}

export interface SearchAnalyticsOptions {
  readonly identities: Identities;
  /** Milliseconds that one request may take. */
  readonly timeLimit: number;
}

/** The search engine's reporting API, through its own client library, as one connection reaches it. */
export class SearchAnalytics {
  readonly #connection: Connection;
  readonly #options: SearchAnalyticsOptions;

  constructor(connection: Connection, options: SearchAnalyticsOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * All rows of a query, or `max` of them, read through ties, each once. Days without data have no rows. Throws
   * `ProviderFailure`; a `RangeError` for a query that the API does not take.
   */
  async read(query: AnalyticsQuery, { max, take }: Paging, run: ProviderRun): Promise<AnalyticsResult> {
    let firstIncompleteDate: Day | null = null;
    const paged = await readThroughTies<AnalyticsRow>({
      max,
      limit: MAX_ROWS_PER_REQUEST,
      page: async (start, limit) => {
        const page = await this.page(query, { start, limit }, run);
        firstIncompleteDate ??= page.firstIncompleteDate;
        return page.rows;
      },
      take,
    });
    return { ...paged, firstIncompleteDate };
  }

  /** Some rows of a query, in the provider's order; fewer than `limit` at its end. Throws as `read`. */
  async page(
    query: AnalyticsQuery,
    { start, limit }: { start: number; limit: number },
    run: ProviderRun,
  ): Promise<AnalyticsPage> {
    checkQuery(query);
    const { property, dimensions } = query;
    const requestBody = { ...toRequestBody(query), rowLimit: limit, startRow: start };
    return this.#request(run, [property], async (api, options) => {
      const { data } = await api.searchanalytics.query({ siteUrl: property, requestBody }, options);
      return readPage(data, dimensions.length, limit);
    });
  }

  /** The properties that the credentials of the connection lead to. Throws `ProviderFailure`. */
  async sites(run: ProviderRun): Promise<Site[]> {
    return this.#request(run, [], async (api, options) => {
      const { data } = await api.sites.list({}, options);
      return readSites(data);
    });
  }

  async #request<T>(
    run: ProviderRun,
    names: readonly string[],
    send: (api: searchconsole_v1.Searchconsole, options: object) => Promise<T>,
  ): Promise<T> {
    const { endpoint } = this.#connection;
    const identity = await this.#options.identities.of(this.#connection);
    // Loaded at the first use: servers without connections do without it.
    const { searchconsole } = await import('@googleapis/searchconsole');
    const api = searchconsole({ version: 'v1', ...(endpoint === null ? {} : { rootUrl: endpoint }) });
    return requestAs(identity, run, names, async () => send(api, await this.#requestOptions(identity, run)));
  }

  async #requestOptions({ client }: Identity, { signal }: ProviderRun): Promise<object> {
    return {
      // The library's own sign-in would repeat requests that are refused, those over quota too.
      headers: await client.getRequestHeaders(),
      timeout: this.#options.timeLimit,
      signal,
      retry: false,
      responseType: 'json',
      maxContentLength: MAX_ANSWER_BYTES,
    };
  }
}

/**
 * The zero-based sum of positions of a row, as facts have it. An average becomes a sum here, so that sums over many
 * rows can become an average again.
 */
export function sumPositionOf({ position, impressions }: AnalyticsRow): number {
  return Math.max(0, Math.round((position - 1) * impressions));
}

/** An answer has no rows at all where there is nothing. */
function readPage(data: unknown, keys: number, limit: number): AnalyticsPage {
  const { rows = [], metadata } = readDocument(data);
  if (!Array.isArray(rows)) throw new ProviderFailure('broken', 'the answer has rows that are no list');
  if (rows.length > limit) throw new ProviderFailure('broken', 'the answer has more rows than were asked for');
  return { rows: rows.map((row) => readRow(row, keys)), firstIncompleteDate: readFirstIncompleteDate(metadata) };
}

function readRow(row: unknown, count: number): AnalyticsRow {
  const { keys = [], clicks, impressions, position } = (row ?? {}) as Readonly<Record<string, unknown>>;
  const areKeys = Array.isArray(keys) && keys.length === count && keys.every((key) => typeof key === 'string');
  if (!areKeys || !isMeasure(clicks) || !isMeasure(impressions) || !isMeasure(position)) {
    throw new ProviderFailure('broken', 'the answer has a row without its keys or numbers');
  }
  return { keys, clicks: Math.round(clicks), impressions: Math.round(impressions), position };
}

function isMeasure(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The provider has written its name in two ways. */
function readFirstIncompleteDate(metadata: unknown): Day | null {
  const { firstIncompleteDate, first_incomplete_date: older } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const told = firstIncompleteDate ?? older ?? null;
  if (told === null) return null;
  const day = typeof told === 'string' ? parseDay(told) : undefined;
  // Without it, days that still change would be taken for final.
  if (day === undefined) throw new ProviderFailure('broken', 'the answer has a first incomplete date that is no day');
  return day;
}

function readSites(data: unknown): Site[] {
  const { siteEntry: sites = [] } = readDocument(data);
  if (!Array.isArray(sites)) throw new ProviderFailure('broken', 'the answer has sites that are no list');
  return sites.map((site: unknown) => {
    const { siteUrl: property, permissionLevel: permission } = (site ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof property !== 'string' || typeof permission !== 'string') {
      throw new ProviderFailure('broken', 'the answer has a site without its address or permission');
    }
    return { property, permission };
  });
}

function readDocument(data: unknown): Readonly<Record<string, unknown>> {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  throw new ProviderFailure('broken', 'the answer is not a JSON document');
}
