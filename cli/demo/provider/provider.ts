import { pacificDayOf } from '../../../server/domain/dates.ts';
import { belongsTo } from '../../../server/domain/index-state.ts';
import { type Account, Accounts } from './accounts.ts';
import { forbidden, notFound, notOfProperty } from './errors.ts';
import { Quotas } from './quotas.ts';
import { type AnalyticsRequest, readRequest } from './request.ts';
import type { SearchSource } from './searches.ts';
import { Site, type SiteOptions } from './site.ts';

/** A parsed request and the outcome. */
export interface LogEntry {
  /** The provider's clock at arrival, in milliseconds. */
  readonly at: number;
  readonly kind: 'query' | 'sites' | 'sitemaps' | 'inspection' | 'token';
  readonly property?: string;
  readonly request?: AnalyticsRequest;
  /** The page of an inspection. */
  readonly page?: string;
  /** 0 if the connection was closed or there was no answer. */
  status: number;
  rows: number;
}

/**
 * A model of the search engine's reporting API: properties with their searches, accounts with access, quotas, and a
 * clock. Every answer is computed from the searches; nothing is recorded.
 */
export class ProviderModel {
  /** Milliseconds; it determines which days are final and which are kept. */
  now: () => number;
  readonly accounts = new Accounts();
  readonly quotas: Quotas;
  readonly log: LogEntry[] = [];
  readonly #sites = new Map<string, Site>();

  /** @param clock for quotas, in milliseconds; real time by default */
  constructor({ now = Date.now, clock = () => performance.now() }: { now?: () => number; clock?: () => number } = {}) {
    this.now = now;
    this.quotas = new Quotas(clock);
  }

  addSite(property: string, source: SearchSource, options: Partial<SiteOptions> = {}): Site {
    const site = new Site(source, options);
    this.#sites.set(property, site);
    return site;
  }

  site(property: string): Site {
    const site = this.#sites.get(property);
    if (site === undefined) throw new Error(`The model has no property ${property}.`);
    return site;
  }

  /** Answers a request for data with the JSON of the body and its number of rows. Throws `ApiError`. */
  query(account: Account, property: string, body: unknown): { body: string; rows: number } {
    const site = this.#readable(account, property);
    const request = readRequest(body);
    const now = this.now();
    this.quotas.take(property, account.email ?? account.refreshToken ?? '', request, site.days(request, now).length);
    const { rows, metadata, responseAggregationType } = site.answer(request, now);
    const told = JSON.stringify({ responseAggregationType, ...(metadata === undefined ? {} : { metadata }) });
    // Without rows the key is missing, instead of an empty list.
    return { body: rows.length === 0 ? told : `{"rows":[${rows.join(',')}],${told.slice(1)}`, rows: rows.length };
  }

  /** The properties of an account; the key is missing if there are none. */
  sites({ sites }: Account): object {
    const siteEntry = [...sites].map(([siteUrl, permissionLevel]) => ({ siteUrl, permissionLevel }));
    return siteEntry.length === 0 ? {} : { siteEntry };
  }

  /** The submitted sitemaps of a property, as the API writes them; the key is missing if there are none. */
  sitemaps(account: Account, property: string): object {
    const { sitemaps } = this.#readable(account, property);
    return sitemaps.length === 0 ? {} : { sitemap: sitemaps };
  }

  /** The state of a page in the index. Throws `ApiError`. */
  inspect(account: Account, property: string, url: string): object {
    const site = this.#readable(account, property);
    this.quotas.takeInspection(property, pacificDayOf(this.now()));
    if (!belongsTo(property, url)) throw notOfProperty();
    const inspectionResultLink = `https://search.google.com/search-console/inspect?id=${encodeURIComponent(url)}`;
    return { inspectionResult: { inspectionResultLink, indexStatusResult: site.indexStateOf(url) } };
  }

  #readable({ sites }: Account, property: string): Site {
    const site = this.#sites.get(property);
    if (site === undefined) throw notFound(property);
    const permission = sites.get(property);
    if (permission === undefined || permission === 'siteUnverifiedUser') throw forbidden(property);
    return site;
  }
}
