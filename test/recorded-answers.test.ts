// Answers to a fixed list of requests stay the same, byte for byte.
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { createKey } from '../server/operations/keys.ts';
import { sameAsRecorded } from './recorded.ts';
import { readTables } from './rows.ts';
import { facts, makeWorld, NOW, type Tables } from './world.ts';

// Answers to a fixed list of requests, byte for byte. A change that must not affect answers leaves the file as it is; any
// other change updates it: UPDATE_RECORDED=1 npm test test/recorded-answers.test.ts

/** The recorded headers: all except lengths and times. */
const HEADERS = [
  'content-type',
  'content-encoding',
  'cache-control',
  'vary',
  'www-authenticate',
  'retry-after',
  'location',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
];

const ALL_DEVICES = ['desktop', 'mobile', 'tablet'];
/** Days of 2026 from its first one on, two of three stored. */
const DAYS = Array.from({ length: 69 }, (_, index) =>
  new Date(Date.UTC(2026, 0, 1 + index)).toISOString().slice(0, 10),
);

/** Realistic numbers that are the same in every run. */
function measures(seed: number): readonly number[] {
  const impressions = (seed * 7919) % 997;
  const clicks = (seed * 104_729) % (Math.floor(impressions / 3) + 1);
  return [clicks, impressions, (impressions * ((seed * 31) % 173)) % 100_003];
}

const ENTITIES = readTables('answers');
const KEYWORDS = ENTITIES['keywords']!;

const TABLES: Tables = {
  ...ENTITIES,
  site_daily: facts(
    'date device',
    ...DAYS.flatMap((day, index) =>
      ALL_DEVICES.filter((_, at) => (index + at) % 3 !== 0).map((device, at) => [
        day,
        device,
        ...measures(index * 5 + at),
      ]),
    ),
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ...KEYWORDS.flatMap(({ id }, number) =>
      DAYS.flatMap((day, index) =>
        ALL_DEVICES.filter((_, at) => (number + index + at) % 3 !== 0).map((device, at) => [
          id,
          day,
          device,
          ...measures(number * 1000 + index * 5 + at),
        ]),
      ),
    ),
  ),
  country_daily: facts(
    'date country',
    ...DAYS.slice(40).flatMap((day, index) =>
      ['gbr', 'irl'].map((name, at) => [day, name, ...measures(index * 3 + at)]),
    ),
  ),
  country_monthly: facts(
    'month country',
    ['2026-01-01', 'gbr', 900, 28_000, 196_001],
    ['2026-01-01', 'other', 20, 700, 9100],
  ),
  appearance_daily: facts('date appearance', ['2026-03-09', 'PRODUCT_SNIPPETS', 11, 310, 1900]),
  brand_daily: facts('date segment', ['2026-03-09', 'brand', 20, 150, 60], ['2026-03-09', 'non_brand', 9, 700, 5900]),
  page_daily: facts(
    'date url country',
    ...DAYS.slice(30).map((day, index) => [day, `https://shop.example/p/${index % 9}`, 'gbr', ...measures(index + 1)]),
  ),
  query_daily: facts(
    'date query country',
    ...DAYS.slice(30).map((day, index) => [day, `acme boots "№${index % 7}"`, 'gbr', ...measures(index + 3)]),
  ),
};

const RANGES = [
  '',
  'period=7d',
  'period=28d',
  'period=1m',
  'period=16m',
  'period=486d',
  'from=2026-01-01&to=2026-01-31',
  'from=2026-01-15&to=2026-02-14',
  'to=2026-02-28',
  'from=2026-03-10&to=2026-03-10',
];

const WRONG = [
  'period=17m',
  'period=',
  'from=2026-02-30',
  'from=2026-03-01&to=2026-02-01',
  'from=2026-03-01&period=7d',
  'from=2026-03-01&from=2026-03-02',
  'from=2020-01-01&to=2026-01-01',
];

const KEYWORD_REQUESTS = [
  'device=mobile',
  'device=desktop&period=2m',
  'device=phone',
  'daily=1&period=7d',
  'daily=true&period=2m&device=mobile',
  'daily=1&limit=3&offset=5&period=486d',
  'daily=yes',
  'daily=1&limit=0',
  'group=Fold1',
  'group=Boots&daily=1',
  'group=TopTn&period=1m',
  'group=Nope1',
  'group=Nope1&limit=x',
  'daily=1&group=Nope1',
  'group=',
  'limit=5&offset=3',
  'limit=5001',
  'offset=100',
  'limit=1e3',
  'unknown=1',
];

const project = '/api/v1/projects/Proj1';

/** Paths and the headers of their requests, besides the key. */
const REQUESTS: readonly (readonly [string, Readonly<Record<string, string>>?])[] = [
  ...['keywords', 'site', 'breakdowns', 'pages', 'queries'].flatMap((name) =>
    [...RANGES, ...WRONG].map((query) => [`${project}/${name}?${query}`] as const),
  ),
  ...KEYWORD_REQUESTS.map((query) => [`${project}/keywords?${query}`] as const),
  ...['device=tablet', 'country=GBR&period=2m', 'country=gbr&device=mobile', 'country=gb', 'country=usa'].map(
    (query) => [`${project}/site?${query}`] as const,
  ),
  ...['limit=2', 'limit=2&offset=2', 'country=gbr', 'country=usa', 'to=2026-03-15', 'limit=25001', 'offset=-1'].flatMap(
    (query) => [[`${project}/pages?${query}`], [`${project}/queries?${query}`]] as const,
  ),
  ...['', 'status=open', 'status=resolved', 'status=none', 'since=2026-03-02', 'limit=1', 'limit=501'].map(
    (query) => [`${project}/alerts?${query}`] as const,
  ),
  ...['', 'from=2026-03-06', 'to=2026-03-04', 'clientVisible=1', 'from=2026-03-03&to=2026-03-02', 'from=x'].map(
    (query) => [`${project}/notes?${query}`] as const,
  ),
  ['/api/v1/projects'],
  [`${project}/groups`],
  [`${project}/page-groups`],
  ...['keywords', 'keywords?daily=1', 'site', 'site?country=gbr', 'breakdowns', 'groups', 'pages', 'alerts'].flatMap(
    (name) => [[`/api/v1/projects/Empty/${name}`], [`/api/v1/projects/Other/${name}`]] as const,
  ),
  ...['gzip', 'br', 'zstd', 'gzip, br', '*', 'identity'].flatMap(
    (encoding) =>
      ['keywords', 'keywords', 'site?period=2m', 'keywords?daily=1', 'pages', 'groups'].map((name) => [
        `${project}/${name}`,
        { 'accept-encoding': encoding },
      ]) as [string, Record<string, string>][],
  ),
  [`${project}/site`, { authorization: '' }],
  [`${project}/site`, { authorization: 'Bearer wrong' }],
  [`${project}/nothing`],
  [`/api/v1/projects/%E0%A4%A`],
  ['/api/v1'],
  ['/nothing'],
  ['/'],
  ['/livez'],
];

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

t.test('the answers to a fixed list of requests equal the recorded ones', async (t) => {
  let time = NOW;
  const world = await makeWorld(t, TABLES, { now: () => time });
  const free = (await createKey(world.catalog, { workspace: 'small', name: 'free', at: 0 })).key;
  const ask = async (url: string, headers: Readonly<Record<string, string>> = {}, method: 'GET' | 'POST' = 'GET') => {
    time += 1000;
    const response = await world.app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${world.key}`, ...headers },
    });
    const decode = DECODERS[String(response.headers['content-encoding'])];
    const body = decode ? decode(response.rawPayload) : response.rawPayload;
    return [
      response.statusCode,
      ...HEADERS.flatMap((name) =>
        response.headers[name] === undefined ? [] : [`${name}: ${String(response.headers[name])}`],
      ),
      createHash('sha256').update(body).digest('hex').slice(0, 16),
    ].join(' | ');
  };
  const found: Record<string, string> = {};
  for (const [index, [url, headers]] of REQUESTS.entries()) {
    found[`${index} ${url} ${headers ? JSON.stringify(headers) : ''}`.trim()] = await ask(url, headers);
  }
  found['free plan'] = await ask(`${project}/site`, { authorization: `Bearer ${free}` });
  found['POST'] = await ask(`${project}/site`, {}, 'POST');
  sameAsRecorded(t, 'answers.json', `${JSON.stringify(found, null, 2)}\n`);
});
