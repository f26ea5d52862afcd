import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Test } from 'tap';
import { addDays, type Day, eachDay } from '../../server/domain/dates.ts';
import { temporaryFolder } from '../world.ts';
import { serve } from './serve.ts';

/** Searches of one day that found one page. */
interface BingSearches {
  readonly day: Day;
  readonly query: string;
  readonly url: string;
  readonly clicks: number;
  readonly impressions: number;
  /** Average, from 1. */
  readonly position: number;
}

/** A request of its crawler. */
interface BingCrawl {
  readonly url: string;
  /** An instant, with the offset of its day. */
  readonly at: string;
  readonly status: number;
  readonly size: number;
}

interface BingSite {
  readonly url: string;
  readonly isVerified: boolean;
}

/** What answers in place of data: a status and a body, or a connection that breaks. */
export type BingFailure = { readonly status: number; readonly body: object | string } | 'reset';

type Intercept = (method: string) => BingFailure | undefined | Promise<BingFailure | undefined>;

/** Errors as the API writes them, all with status 400. */
export const BING_ERRORS = {
  invalidKey: { ErrorCode: 3, Message: 'ERROR!!! InvalidApiKey' },
  throttledUser: { ErrorCode: 4, Message: 'ERROR!!! ThrottleUser' },
  throttledHost: { ErrorCode: 5, Message: 'ERROR!!! ThrottleHost' },
  invalidParameter: { ErrorCode: 8, Message: 'ERROR!!! InvalidParameter' },
  notAuthorized: { ErrorCode: 14, Message: 'ERROR!!! NotAuthorized' },
} as const;

/** A date without a value. */
const NO_DATE = '/Date(-62135568000000)/';
const VERIFICATION_CODE = '0123456789ABCDEF-verification';

export type FakeBing = Awaited<ReturnType<typeof fakeBing>>;

/**
 * A model of Bing Webmaster Tools, which computes each answer from searches. Days are whole windows without paging or
 * filters, queries and pages are weeks: a row of day D has the seven days before D. It ends with the test.
 */
export async function fakeBing(t: Test, today: Day) {
  const origin = await serve(t, ({ url }, response) => void answer(new URL(url!, 'http://bing'), response));
  const fake = {
    /** The base address, for connections. */
    url: `${origin}/json`,
    key: 'bing-key-of-the-tests-0123456789',
    /** A file with the key. */
    keyFile: join(temporaryFolder(t), 'bing-key'),
    sites: [] as BingSite[],
    searches: [] as BingSearches[],
    crawls: [] as BingCrawl[],
    today,
    /** How many days it keeps. */
    retained: 180,
    /** The day of the week that ends weeks, from 0 for Sunday; clients do not know it. */
    weekday: 5,
    /** Of dates, such as `-0700`: the day begins there. */
    offset: '-0700',
    /** Dates of further days, as they stand in responses. */
    oddDates: [] as readonly string[],
    /** Whether the days begin with a row without a date. */
    hasUndated: false,
    /** Called for each request; what it returns is the answer. */
    intercept: ((): undefined => undefined) as Intercept,
    /** The requests: method and site. */
    requests: [] as { readonly method: string; readonly site: string | null }[],
  };
  writeFileSync(fake.keyFile, `${fake.key}\n`, { mode: 0o600 });

  async function answer(url: URL, response: ServerResponse): Promise<void> {
    const method = url.pathname.replace('/json/', '');
    const site = url.searchParams.get('siteUrl');
    fake.requests.push({ method, site });
    const failure = (await fake.intercept(method)) ?? refusal(url, method, site);
    if (failure === 'reset') response.destroy();
    else if (failure !== undefined) send(response, failure.status, failure.body);
    else send(response, 200, { d: ANSWERS[method]!(fake, url.searchParams) });
  }

  function refusal(url: URL, method: string, site: string | null): BingFailure | undefined {
    if (url.searchParams.get('apikey') !== fake.key) return { status: 400, body: BING_ERRORS.invalidKey };
    if (ANSWERS[method] === undefined) return { status: 404, body: '<html>Not Found</html>' };
    if (method === 'GetUserSites') return undefined;
    const needed = NEEDED[method];
    if (site === null || (needed !== undefined && !url.searchParams.get(needed)))
      return { status: 400, body: BING_ERRORS.invalidParameter };
    const isOpen = fake.sites.some(({ url: own, isVerified }) => own === site && isVerified);
    return isOpen ? undefined : { status: 400, body: BING_ERRORS.notAuthorized };
  }
  return fake;
}

const ANSWERS: Readonly<Record<string, (fake: FakeBing, asked: URLSearchParams) => object | null>> = {
  GetUserSites: ({ sites }) =>
    sites.map(({ url, isVerified }) => ({
      __type: 'Site:#Microsoft.Bing.Webmaster.Api',
      AuthenticationCode: VERIFICATION_CODE,
      DnsVerificationCode: VERIFICATION_CODE,
      IsVerified: isVerified,
      Url: url,
    })),
  GetRankAndTrafficStats: (fake) => [
    ...(fake.hasUndated ? [{ Clicks: 0, Date: NO_DATE, Impressions: 0 }] : []),
    ...fake.oddDates.map((date) => ({ Clicks: 1, Date: date, Impressions: 9 })),
    ...[...Map.groupBy(kept(fake), ({ day }) => day)].map(([day, rows]) => ({
      Clicks: total(rows, 'clicks'),
      Date: dateOf(day, fake),
      Impressions: total(rows, 'impressions'),
    })),
  ],
  GetQueryStats: (fake) => weeksOf(fake, 'query'),
  // The name of the field is that of queries.
  GetPageStats: (fake) => weeksOf(fake, 'url'),
  GetQueryPageStats: (fake, asked) => weeksOf(fake, 'url', ({ query }) => query === asked.get('query')),
  GetPageQueryStats: (fake, asked) => weeksOf(fake, 'query', ({ url }) => url === asked.get('page')),
  GetCrawlStats: (fake) => crawlDays(fake),
  GetUrlInfo: (fake, asked) => urlInfo(fake, asked.get('url')!),
};
/** The parameters that methods need beside the site. */
const NEEDED: Readonly<Record<string, string>> = {
  GetQueryPageStats: 'query',
  GetPageQueryStats: 'page',
  GetUrlInfo: 'url',
};

function weeksOf(
  fake: FakeBing,
  by: 'query' | 'url',
  isAsked: (searches: BingSearches) => boolean = () => true,
): object[] {
  const ends = eachDay(addDays(fake.today, -fake.retained), fake.today).filter(
    (day) => new Date(`${day}T00:00Z`).getUTCDay() === fake.weekday,
  );
  const searches = kept(fake).filter(isAsked);
  return ends.flatMap((end) => {
    const ofWeek = searches.filter(({ day }) => day >= addDays(end, -7) && day < end);
    return [...Map.groupBy(ofWeek, (row) => row[by])].map(([Query, rows]) => {
      const impressions = total(rows, 'impressions');
      const clicks = total(rows, 'clicks');
      const average = (weight: 'clicks' | 'impressions', all: number): number =>
        all === 0 ? -1 : rows.reduce((sum, row) => sum + row.position * row[weight], 0) / all;
      return {
        AvgClickPosition: average('clicks', clicks),
        AvgImpressionPosition: average('impressions', impressions),
        Clicks: clicks,
        Date: dateOf(end, fake),
        Impressions: impressions,
        Query,
      };
    });
  });
}

/** Newest first, as the order is not documented. */
function crawlDays(fake: FakeBing): object[] {
  const days = [...Map.groupBy(fake.crawls, ({ at }) => at.slice(0, 10))].toSorted(([a], [b]) => (a > b ? -1 : 1));
  const told = days.map(([day, crawls]) => {
    const withStatus = (from: number, to = from): number =>
      crawls.filter(({ status }) => status >= from && status <= to).length;
    const codes = {
      Code2xx: withStatus(200, 299),
      Code301: withStatus(301),
      Code302: withStatus(302),
      Code4xx: withStatus(400, 499),
      Code5xx: withStatus(500, 599),
    };
    return {
      __type: 'CrawlStats:#Microsoft.Bing.Webmaster.Api',
      ...codes,
      AllOtherCodes: crawls.length - Object.values(codes).reduce((sum, count) => sum + count, 0),
      BlockedByRobotsTxt: 0,
      ContainsMalware: 0,
      CrawlErrors: codes.Code4xx + codes.Code5xx,
      CrawledPages: crawls.length,
      Date: dateOf(day, fake),
      InIndex: new Set(fake.crawls.map(({ url }) => url)).size,
      InLinks: 0,
    };
  });
  return [...told, ...fake.oddDates.map((date) => ({ ...told[0], Date: date }))];
}

function urlInfo({ crawls, offset }: FakeBing, url: string): object | null {
  const ofUrl = crawls.filter((crawl) => crawl.url === url);
  const [first, last] = [ofUrl[0], ofUrl.at(-1)];
  if (first === undefined || last === undefined) return null;
  return {
    __type: 'UrlInfo:#Microsoft.Bing.Webmaster.Api',
    AnchorCount: 0,
    DiscoveryDate: `/Date(${Date.parse(first.at)}${offset})/`,
    DocumentSize: last.size,
    HttpStatus: last.status,
    IsPage: true,
    LastCrawledDate: `/Date(${Date.parse(last.at)}${offset})/`,
    TotalChildUrlCount: 0,
    Url: url,
  };
}

function kept({ searches, today, retained }: FakeBing): BingSearches[] {
  return searches.filter(({ day }) => day >= addDays(today, -retained) && day < today);
}

function total(rows: readonly BingSearches[], measure: 'clicks' | 'impressions'): number {
  return rows.reduce((sum, row) => sum + row[measure], 0);
}

/** Midnight at the offset, as milliseconds, with the offset. */
function dateOf(day: Day, { offset }: FakeBing): string {
  const at = Date.parse(`${day}T00:00:00${offset.slice(0, 3)}:${offset.slice(3)}`);
  return `/Date(${at}${offset})/`;
}

function send(response: ServerResponse, status: number, body: object | string): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json; charset=utf-8' });
  response.end(isText ? body : JSON.stringify(body));
}
