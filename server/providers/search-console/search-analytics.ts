import type { searchconsole_v1 } from '@googleapis/searchconsole';
import type { Connection } from '../../catalog/connections.ts';
import { type Day, parseDay } from '../../domain/dates.ts';
import { type HourStart, parseHour } from '../../domain/hours.ts';
import type { Inspection } from '../../domain/index-state.ts';
import type { Sitemap } from '../../domain/sitemap.ts';
import { SURFACES } from '../../model/surfaces.ts';
import { ProviderFailure } from '../failures.ts';
import { type Identity, identityOf } from '../google/auth.ts';
import { READ_SCOPE } from '../google/oauth.ts';
import { requestAs, requestOptions } from '../google/request.ts';
import type { ProviderContext } from '../provider.ts';
import type { ProviderRun } from '../retries.ts';
import { type AnalyticsQuery, checkQuery, toRequestBody } from './analytics-query.ts';
import { readInspection } from './inspections.ts';
import { readSitemaps } from './sitemaps.ts';
import { type PagedRows, readThroughTies } from './ties.ts';

/** Maximum rows per request. A page with fewer rows than requested is the last one. */
const MAX_ROWS_PER_REQUEST = 25_000;

export interface AnalyticsRow {
  /** The values of the dimensions, in the order of the query. */
  readonly keys: readonly string[];
  readonly clicks: number;
  readonly impressions: number;
  /** The average position of the provider, from 1; 0 without impressions, 1 for search types without positions. */
  readonly position: number;
}

interface AnalyticsPage {
  readonly rows: readonly AnalyticsRow[];
  /**
   * The first provisional day, if any. Reported only for queries grouped by date with the `dataState` `all`.
   */
  readonly firstIncompleteDate: Day | null;
  /** The first provisional hour, if any. Reported only for queries grouped by hour. */
  readonly firstIncompleteHour: HourStart | null;
}

interface Paging {
  /** Maximum rows. */
  readonly max: number;
  /** Receives new rows in the provider's order. */
  readonly take: (rows: readonly AnalyticsRow[]) => Promise<void>;
}

export type AnalyticsResult = PagedRows & Pick<AnalyticsPage, 'firstIncompleteDate'>;

/** A property that credentials have access to. */
export interface Site {
  readonly property: string;
  /** The permission level of the provider, such as `siteOwner`, `siteFullUser`, `siteRestrictedUser` or `siteUnverifiedUser`. */
  readonly permission: string;
}

/** A client of the search engine's reporting API for one connection. */
export class SearchAnalytics {
  readonly #connection: Connection;
  readonly #context: ProviderContext;

  constructor(connection: Connection, context: ProviderContext) {
    this.#connection = connection;
    this.#context = context;
  }

  /**
   * Reads up to `max` rows of a query, each once, including ties across pages. Days without data have no rows. Throws
   * `ProviderFailure`, or a `RangeError` for an invalid query.
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

  /** One page of a query, in the provider's order; fewer than `limit` rows at the end. Throws like `read`. */
  async page(
    query: AnalyticsQuery,
    { start, limit }: { start: number; limit: number },
    run: ProviderRun,
  ): Promise<AnalyticsPage> {
    checkQuery(query);
    const { property, dimensions, type = 'web' } = query;
    const requestBody = { ...toRequestBody(query), rowLimit: limit, startRow: start };
    return this.#request(run, [property], async (api, options) => {
      const { data } = await api.searchanalytics.query({ siteUrl: property, requestBody }, options);
      return readPage(data, { keys: dimensions.length, hasPositions: SURFACES[type].hasQueries }, limit);
    });
  }

  /** The properties that the credentials of the connection have access to. Throws `ProviderFailure`. */
  async sites(run: ProviderRun): Promise<Site[]> {
    return this.#request(run, [], async (api, options) => {
      const { data } = await api.sites.list({}, options);
      return readSites(data);
    });
  }

  /** The sitemaps of a property that the search engine knows, by address. Throws `ProviderFailure`. */
  async sitemaps(property: string, run: ProviderRun): Promise<Sitemap[]> {
    return this.#request(run, [property], async (api, options) => {
      const { data } = await api.sitemaps.list({ siteUrl: property }, options);
      return readSitemaps(readDocument(data));
    });
  }

  /** The state of a page of a property in the search engine's index. Throws `ProviderFailure`. */
  async inspect(property: string, url: string, run: ProviderRun): Promise<Inspection> {
    return this.#request(run, [property, url], async (api, options) => {
      const requestBody = { siteUrl: property, inspectionUrl: url };
      const { data } = await api.urlInspection.index.inspect({ requestBody }, options);
      return readInspection(readDocument(data));
    });
  }

  async #request<T>(
    run: ProviderRun,
    names: readonly string[],
    send: (api: searchconsole_v1.Searchconsole, options: object) => Promise<T>,
  ): Promise<T> {
    const { googleEndpoint } = this.#context.settings;
    const endpoint = this.#connection.endpoint ?? (googleEndpoint && `${googleEndpoint}/`);
    const identity = await identityOf(this.#connection, READ_SCOPE, this.#context);
    // Loaded on first use, because many servers have no connections.
    const { searchconsole } = await import('@googleapis/searchconsole');
    const api = searchconsole({ version: 'v1', ...(endpoint === null ? {} : { rootUrl: endpoint }) });
    return requestAs(identity, run, names, async () => send(api, await this.#requestOptions(identity, run)));
  }

  async #requestOptions(identity: Identity, run: ProviderRun): Promise<object> {
    // The library's own sign-in would retry rejected requests, including those over quota.
    return { headers: await identity.headers(), ...requestOptions(this.#context, run) };
  }
}

/** A response without data has no `rows`. */
function readPage(data: unknown, row: RowShape, limit: number): AnalyticsPage {
  const { rows = [], metadata } = readDocument(data);
  if (!Array.isArray(rows)) throw new ProviderFailure('broken', 'the response has rows that are not a list');
  if (rows.length > limit) throw new ProviderFailure('broken', 'the response has more rows than requested');
  return {
    rows: rows.map((each) => readRow(each, row)),
    firstIncompleteDate: readFirstIncomplete(metadata, 'Date', parseDay) ?? null,
    firstIncompleteHour: readFirstIncomplete(metadata, 'Hour', parseHour) ?? null,
  };
}

interface RowShape {
  /** How many. */
  readonly keys: number;
  readonly hasPositions: boolean;
}

function readRow(row: unknown, shape: RowShape): AnalyticsRow {
  const { keys = [], clicks, impressions, position: told } = (row ?? {}) as Readonly<Record<string, unknown>>;
  const position = shape.hasPositions ? told : 1;
  const areKeys = Array.isArray(keys) && keys.length === shape.keys && keys.every((key) => typeof key === 'string');
  if (!areKeys || !isMeasure(clicks) || !isMeasure(impressions) || !isMeasure(position)) {
    throw new ProviderFailure('broken', 'the response has a row without its keys or numbers');
  }
  return { keys, clicks: Math.round(clicks), impressions: Math.round(impressions), position };
}

function isMeasure(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The provider has used two spellings of the property. Undefined if it says nothing. */
function readFirstIncomplete<T>(
  metadata: unknown,
  unit: 'Date' | 'Hour',
  parse: (text: string) => T | undefined,
): T | undefined {
  const told = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const text = told[`firstIncomplete${unit}`] ?? told[`first_incomplete_${unit.toLowerCase()}`] ?? null;
  if (text === null) return undefined;
  const first = typeof text === 'string' ? parse(text) : undefined;
  // Without it, provisional data would be treated as final.
  if (first === undefined) {
    const what = unit === 'Date' ? 'date that is not a day' : 'hour that is not an hour';
    throw new ProviderFailure('broken', `the response has a first incomplete ${what}`);
  }
  return first;
}

function readSites(data: unknown): Site[] {
  const { siteEntry: sites = [] } = readDocument(data);
  if (!Array.isArray(sites)) throw new ProviderFailure('broken', 'the response has sites that are not a list');
  return sites.map((site: unknown) => {
    const { siteUrl: property, permissionLevel: permission } = (site ?? {}) as Readonly<Record<string, unknown>>;
    if (typeof property !== 'string' || typeof permission !== 'string') {
      throw new ProviderFailure('broken', 'the response has a site without its URL or permission');
    }
    return { property, permission };
  });
}

function readDocument(data: unknown): Readonly<Record<string, unknown>> {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Record<string, unknown>;
  throw new ProviderFailure('broken', 'the response is not a JSON document');
}
