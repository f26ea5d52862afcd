import type { ListKind } from '../../catalog/stored-lists.ts';
import type { CrawlDay, PageCrawl } from '../../domain/crawl.ts';
import { readText } from '../../runtime/response-text.ts';
import { ProviderFailure } from '../failures.ts';
import type { ProviderContext, WholeTableRow } from '../provider.ts';
import { type ProviderRun, withRetries } from '../retries.ts';
import { readCrawlDays, readPageCrawl } from './crawl.ts';
import { connectionFailure, refusalFailure } from './failures.ts';
import { readDays, readSites, readWeeks } from './rows.ts';
import { siteOf } from './sites.ts';

/** The longest accepted response, in bytes. */
const MAX_BYTES = 32_000_000;
const ADDRESS = 'https://ssl.bing.com/webmaster/api.svc/json';

/** With what it is asked. */
export interface BingAccess {
  /** Throws `ProviderFailure`. */
  readonly key: () => Promise<string>;
  /** An address to ask instead of Bing's. */
  readonly endpoint: string | null;
}

/** A client of Bing Webmaster Tools. All methods throw `ProviderFailure`. */
export class BingWebmaster {
  readonly #access: BingAccess;
  readonly #context: ProviderContext;
  /** Asked for once in a run. */
  readonly #sites = new WeakMap<ProviderRun, Promise<string[]>>();

  constructor(access: BingAccess, context: ProviderContext) {
    this.#access = access;
    this.#context = context;
  }

  /** The verified site of the key that a property is. */
  async siteOf(property: string, run: ProviderRun): Promise<string> {
    const sites = this.#sites.get(run) ?? this.#get('GetUserSites', {}, run).then(readSites);
    this.#sites.set(run, sites);
    return siteOf(property, await sites);
  }

  /** All days that it keeps. */
  async days(siteUrl: string, run: ProviderRun): Promise<WholeTableRow[]> {
    return readDays(await this.#get('GetRankAndTrafficStats', { siteUrl }, run));
  }

  /** All weeks that it keeps, by query or by page. */
  async weeks(siteUrl: string, by: 'query' | 'url', run: ProviderRun): Promise<WholeTableRow[]> {
    return readWeeks(await this.#get(by === 'query' ? 'GetQueryStats' : 'GetPageStats', { siteUrl }, run), by);
  }

  /** All weeks that it keeps, of the pages of one query, or of the queries of one page. */
  async weeksOf(siteUrl: string, kind: ListKind, of: string, run: ProviderRun): Promise<WholeTableRow[]> {
    return kind === 'pages'
      ? readWeeks(await this.#get('GetQueryPageStats', { siteUrl, query: of }, run), 'url')
      : readWeeks(await this.#get('GetPageQueryStats', { siteUrl, page: of }, run), 'query');
  }

  /** What its crawler did on the days that it keeps. */
  async crawlDays(siteUrl: string, run: ProviderRun): Promise<CrawlDay[]> {
    return readCrawlDays(await this.#get('GetCrawlStats', { siteUrl }, run));
  }

  /** What its crawler knows of an address; null if nothing. */
  async pageCrawl(siteUrl: string, url: string, run: ProviderRun): Promise<PageCrawl | null> {
    return readPageCrawl(await this.#get('GetUrlInfo', { siteUrl, url }, run));
  }

  async #get(method: string, parameters: Readonly<Record<string, string>>, run: ProviderRun): Promise<unknown> {
    const key = await this.#access.key();
    const base = this.#access.endpoint ?? this.#context.settings.bingEndpoint ?? ADDRESS;
    const url = `${base.replace(/\/$/, '')}/${method}?${new URLSearchParams({ ...parameters, apikey: key }).toString()}`;
    const text = await withRetries(
      run,
      (error) => connectionFailure(error, key),
      async () => {
        const limit = AbortSignal.timeout(this.#context.settings.providerTimeLimit * 1000);
        const signal = AbortSignal.any([run.signal, limit]);
        // Elsewhere the address, and with it the key, would be told to another server.
        const response = await fetch(url, { signal, redirect: 'error', headers: { accept: 'application/json' } });
        const body = await readText(response, MAX_BYTES, tooLong);
        if (!response.ok) throw refusalFailure({ status: response.status, body }, key);
        return body;
      },
    );
    return readData(text);
  }
}

function tooLong(): ProviderFailure {
  return new ProviderFailure('broken', 'the response is too long', { passing: false });
}

function readData(text: string): unknown {
  try {
    const document = JSON.parse(text) as { readonly d?: unknown } | null;
    if (document?.d !== undefined) return document.d;
  } catch {
    // Its message quotes the response.
  }
  throw new ProviderFailure('broken', 'the response is not a JSON document with data', { passing: false });
}
