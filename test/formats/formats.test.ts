// Every endpoint gives the same data in every format, chosen by path, parameter or Accept header.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { createKey } from '../../server/catalog/keys.ts';
import { facts, keyword, makeWorld, type Row, type World } from '../world.ts';
import {
  AVERAGE,
  arrowMetadata,
  numberText,
  parquetMetadata,
  parseCsv,
  parseNdjson,
  readArrow,
  readParquet,
} from './read.ts';

const HOSTILE = ['=cmd("x")', '+1', '-1', '@sum', '\tx', 'a "b", c\r\nd', "it's; ümlaut 🥾", 'without data'];

const uuid = (last: number) => `5e1f0000-0000-4000-8000-00000000000${last}`;
const TABLES: Readonly<Record<string, Row[]>> = {
  keywords: HOSTILE.map((query, index) => keyword(`Kw00${index}`, query, { source: 'manual' })),
  groups: ['Boots', 'Other'].map((id, position) => ({ project_id: 'Proj1', id, name: id, kind: 'manual', position })),
  group_members: ['Boots', 'Other'].map((group) => ({ project_id: 'Proj1', group_id: group, keyword_id: 'Kw002' })),
  keyword_daily: facts(
    'keyword_id date device',
    ...HOSTILE.slice(0, -1).flatMap((_, index) => [
      [`Kw00${index}`, '2026-03-08', 'mobile', 1 + index, 32, 64 + index],
      [`Kw00${index}`, '2026-03-10', 'desktop', 0, index, 2 ** 40 + index],
    ]),
    ['Kw006', '2026-03-09', 'tablet', 0, 0, 0],
  ),
  site_hourly: facts(
    'date hour',
    ['2026-03-08', '2026-03-08T09:00:00Z', 2, 31, 140],
    ['2026-03-08', '2026-03-08T12:00:00Z', 4, 46, 180],
  ),
  site_daily_image: facts('date device', ['2026-03-09', 'mobile', 4, 77, 2 ** 41 + 1]),
  site_daily: facts(
    'date device',
    ['2026-01-31', 'mobile', 3, 90, 800],
    ['2026-03-01', 'mobile', 30, 700, 6001],
    ['2026-03-05', 'desktop', 3, 7, 2 ** 45 + 1],
    ['2026-03-10', 'mobile', 1, 32, 64],
  ),
  ai_daily: [{ project_id: 'Proj1', date: '2026-03-09', ai_impressions: 2 ** 33 }],
  citation_page_period: [
    {
      project_id: 'Proj1',
      first_day: '2026-03-08',
      last_day: '2026-03-09',
      url: 'https://shop.example/a',
      citations: 0,
    },
  ],
  country_daily: facts('date country', ['2026-03-09', 'gbr', 8, 200, 1901]),
  country_monthly: facts('month country', ['2026-02-01', 'gbr', 900, 28_001, 196_001]),
  appearance_daily: facts('date appearance', ['2026-03-09', 'VIDEO', 11, 310, 1900]),
  brand_daily: facts('date segment', ['2026-03-09', 'brand', 2, 15, 6], ['2026-03-09', 'non_brand', 9, 70, 590]),
  page_daily: facts(
    'date url country',
    ...HOSTILE.map((text, index) => [
      '2026-03-09',
      `https://shop.example/${encodeURI(text)}`,
      'gbr',
      9 - index,
      40,
      77,
    ]),
  ),
  query_daily: facts(
    'date query country',
    ...HOSTILE.map((text, index) => ['2026-03-09', text, 'gbr', 9 - index, index, 2 ** 41 + index]),
    ['2026-03-09', 'acme boots', 'gbr', 1, 3, 4],
  ),
  alerts: [1, 2].map((number) => ({
    id: uuid(number),
    project_id: 'Proj1',
    type: 'keyword_drop',
    kind: 'Keyword drop',
    severity: 'warning',
    title: '=lost "positions"',
    body: 'two\nlines',
    date: number === 1 ? '2026-03-08' : null,
    keyword_id: number === 1 ? 'Kw002' : null,
    created_at: `2026-03-0${number}T05:00:00.123Z`,
    resolved_at: number === 2 ? '2026-03-05T00:00:00Z' : null,
  })),
  notes: [3, 4].map((number) => ({
    id: uuid(number),
    workspace_id: 'acme',
    project_id: 'Proj1',
    scope: number === 3 ? 'keyword' : 'project',
    date: '2026-03-04',
    end_date: number === 3 ? null : '2026-03-09',
    category: 'content',
    text: '@everyone, read this',
    client_visible: number === 3,
    author: 'Editorial team',
    keyword_id: number === 3 ? 'Kw002' : null,
    created_at: '2026-03-02T10:00:00Z',
    updated_at: '2026-03-02T10:00:00Z',
  })),
};

const world = await makeWorld(t, TABLES);

interface Sent {
  readonly status: number;
  readonly type: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
  readonly text: string;
}

async function send(path: string, headers: Readonly<Record<string, string>> = {}, of: World = world): Promise<Sent> {
  const response = await of.app.inject({
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${of.key}`, ...headers },
  });
  const { statusCode: status, rawPayload: bytes, body: text } = response;
  return { status, type: response.headers['content-type'], headers: response.headers, bytes, text };
}

const project = '/projects/Proj1';
type Flat = Record<string, unknown>;

/** The flat rows that a JSON answer says. */
type Lists = Record<
  | 'projects'
  | 'keywords'
  | 'daily'
  | 'hours'
  | 'surfaces'
  | 'rows'
  | 'countries'
  | 'devices'
  | 'appearances'
  | 'pages'
  | 'queries'
  | 'alerts'
  | 'notes',
  Flat[]
> & { readonly brand: Readonly<Record<string, Flat>> };
const flatRows: Readonly<Record<string, (body: Lists) => Flat[]>> = {
  '/projects': ({ projects }) => projects,
  '/portfolio?period=2m&quality=1': ({ projects }) => projects.map(portfolioRow),
  '/portfolio?daily=1': ({ projects }) =>
    projects.flatMap(({ id, domain, daily }) => (daily as Flat[]).map((day) => ({ id, domain, ...day }))),
  [`${project}/keywords?period=7d`]: ({ keywords }) =>
    keywords.map(({ metrics, ...row }) => ({ ...row, ...(metrics as Flat) })),
  [`${project}/keywords?period=7d&daily=1`]: ({ keywords }) =>
    keywords.flatMap(({ id, query, daily }) => (daily as Flat[]).map((day) => ({ id, query, ...day }))),
  [`${project}/site?period=2m`]: ({ daily }) => daily,
  [`${project}/site?period=2m&country=gbr`]: ({ daily }) => daily,
  [`${project}/hours?from=2026-03-01`]: ({ hours }) => hours,
  [`${project}/surfaces?period=2m`]: ({ surfaces }) =>
    surfaces.map((row) => ({ aiImpressions: null, citations: null, ...row })),
  [`${project}/ai?period=2m`]: ({ rows }) => rows,
  [`${project}/ai?period=2m&by=page`]: ({ rows }) => rows,
  [`${project}/breakdowns?period=3m`]: ({ countries, devices, appearances, brand }) => [
    ...countries.map(({ country, ...row }) => ({ kind: 'country', value: country, ...row })),
    ...devices.map(({ device, ...row }) => ({ kind: 'device', value: device, ...row })),
    ...appearances.map(({ appearance, ...row }) => ({ kind: 'appearance', value: appearance, ...row })),
    ...Object.entries(brand).map(([value, row]) => ({
      kind: 'segment',
      value,
      ctr: null,
      position: null,
      ...row,
    })),
  ],
  [`${project}/explain?by=keyword&limit=3`]: (body) => explained(body as unknown as Explained),
  [`${project}/pages`]: ({ pages }) => pages,
  [`${project}/queries`]: ({ queries }) => queries,
  [`${project}/alerts`]: ({ alerts }) => alerts,
  [`${project}/notes`]: ({ notes }) =>
    notes.map(({ group, keyword: named, ...row }) => ({
      ...row,
      group_id: (group as Flat | null)?.['id'] ?? null,
      group_name: (group as Flat | null)?.['name'] ?? null,
      keyword_id: (named as Flat | null)?.['id'] ?? null,
      keyword_query: (named as Flat | null)?.['query'] ?? null,
    })),
};

interface Explained {
  readonly change: { readonly clicks: Flat };
  readonly parts: Flat;
  readonly rows: readonly Readonly<Record<'keyword' | 'clicks' | 'impressions' | 'position' | 'parts', Flat>>[];
  readonly rest: Readonly<Record<'clicks' | 'parts', Flat>>;
}

/** The rows of an explanation, what they leave out, and what no row has. */
function explained({ change, parts: { notAttributed, ...parts }, rows, rest }: Explained): Flat[] {
  const nothing = (of: Flat): Flat => Object.fromEntries(Object.keys(of).map((name) => [name, null]));
  const of = (row: Explained['rows'][number]): Flat =>
    Object.assign({}, ...Object.entries(row).map(([name, values]) => prefixed(name, values))) as Flat;
  const [{ keyword: named, clicks, impressions, position }] = rows as [Explained['rows'][number]];
  const other = { keyword: nothing(named), impressions: nothing(impressions), position: nothing(position) };
  const without = (name: string): number =>
    [...rows, rest].reduce((left, row) => left - Number(row.clicks[name]), Number(change.clicks[name]));
  const left = Object.fromEntries(Object.keys(clicks).map((name) => [name, without(name)]));
  const flat = [
    ...rows,
    { ...other, ...rest, keyword: { ...other.keyword, query: '_rest' } },
    { ...other, clicks: left, keyword: { ...other.keyword, query: '_not_attributed' }, parts: nothing(parts) },
  ].map(({ keyword: key, clicks: c, impressions: i, position: p, parts: q }) =>
    of({ keyword: key, clicks: c, impressions: i, position: p, parts: q }),
  );
  return flat.map((row, index) => ({
    ...row,
    parts_notAttributed: index === flat.length - 1 ? notAttributed : null,
  }));
}

/** A project of a portfolio, flat. */
function portfolioRow({ range, totals, quality, ...row }: Flat): Flat {
  const { from, to, provisionalAfter } = range as Flat;
  const { queryCoverage, missing, events, rankingUpdates, ...known } = quality as Flat;
  return {
    ...row,
    range_from: from,
    range_to: to,
    range_provisionalAfter: provisionalAfter,
    ...(totals as Flat),
    ...prefixed('quality', known),
    ...prefixed('quality_queryCoverage', queryCoverage as Flat),
    quality_missing: JSON.stringify(missing),
    quality_events: JSON.stringify(events),
    quality_rankingUpdates: JSON.stringify(rankingUpdates),
    error_code: null,
    error_message: null,
  };
}

function prefixed(prefix: string, values: Flat): Flat {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}_${name}`, value]));
}

/** The fields that a row has in CSV. */
function csvFields(row: Flat, columns: readonly string[]): string[] {
  return columns.map((name) => {
    const value = row[name];
    if (value === null || value === undefined) return '';
    if (Array.isArray(value)) return value.join(' ');
    const text = typeof value === 'number' ? numberText(name, value) : String(value as string | boolean);
    return typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  });
}

const withoutSums = (rows: readonly Flat[]): Flat[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'sum_position')));
const inFormat = (path: string, format: string) => `${path}${path.includes('?') ? '&' : '?'}format=${format}`;

for (const [path, flatten] of Object.entries(flatRows)) {
  t.test(`${path}: every format says the same`, async (t) => {
    const expected = flatten(JSON.parse((await send(path)).text) as Lists);
    t.ok(expected.length > 0);
    const { text } = await send(inFormat(path, 'ndjson'));
    const lines = parseNdjson(text);
    for (const [, name = '', value = ''] of text.matchAll(/"(\w+)":(-?[\d.]+)[,}]/g)) {
      t.equal(value.includes('.'), AVERAGE.test(name), `${name}: ${value}`);
    }
    t.strictSame(
      lines,
      expected.map((row) => sortLike(row, lines[0]!)),
    );
    const [columns = [], ...fields] = parseCsv((await send(inFormat(path, 'csv'))).text);
    t.strictSame(columns, Object.keys(lines[0]!));
    t.strictSame(
      fields,
      expected.map((row) => csvFields(row, columns)),
    );
    const arrow = readArrow((await send(inFormat(path, 'arrow'))).bytes);
    t.strictSame(withoutSums(arrow.rows), lines);
    const parquet = await readParquet((await send(inFormat(path, 'parquet'))).bytes);
    t.strictSame(parquet.rows, arrow.rows);
    checkTypes(t, parquet.types, arrow.types);
  });
}

/** The row with its names in the order of another. */
function sortLike(row: Flat, other: Flat): Flat {
  const rest = Object.keys(row).filter((name) => !(name in other));
  return Object.fromEntries([...Object.keys(other), ...rest].map((name) => [name, row[name]]));
}

function checkTypes(t: Test, parquet: Record<string, string>, arrow: Record<string, string>): void {
  const exact: Readonly<Record<string, readonly [string, string]>> = {
    clicks: ['BIGINT', 'Int64'],
    impressions: ['BIGINT', 'Int64'],
    ctr: ['DOUBLE', 'Float64'],
    position: ['DOUBLE', 'Float64'],
    date: ['DATE', 'Date32<DAY>'],
    endDate: ['DATE', 'Date32<DAY>'],
    createdAt: ['TIMESTAMP WITH TIME ZONE', 'Timestamp<MILLISECOND, UTC>'],
    trackedSince: ['TIMESTAMP WITH TIME ZONE', 'Timestamp<MILLISECOND, UTC>'],
    branded: ['BOOLEAN', 'Bool'],
    clientVisible: ['BOOLEAN', 'Bool'],
    groupIds: ['VARCHAR[]', 'List<Utf8>'],
    trackedKeywords: ['BIGINT', 'Int64'],
  };
  t.strictSame(Object.keys(parquet), Object.keys(arrow));
  for (const name of Object.keys(parquet)) {
    if (exact[name]) t.strictSame([parquet[name], arrow[name]], exact[name], name);
  }
}

t.test('sum_position is exact, and a fraction only where a month was spread', async (t) => {
  const sums = async (path: string) => {
    const { types, rows } = await readParquet((await send(`${project}/${path}`)).bytes);
    return { type: types['sum_position'], sums: rows.map((row) => row['sum_position']) };
  };
  t.strictSame(await sums('site.parquet?from=2026-03-04&to=2026-03-05'), { type: 'BIGINT', sums: [0, 2 ** 45 + 1] });
  const daily = await sums('keywords.parquet?period=7d&daily=1&device=desktop');
  t.strictSame(
    [...(daily.sums as number[])].sort((a, b) => a - b),
    HOSTILE.slice(0, -1).map((_, index) => 2 ** 40 + index),
  );
  t.match(await sums('queries.parquet'), { type: 'BIGINT', sums: [2 ** 41] });
  const february = await sums('site.parquet?country=gbr&from=2026-02-01&to=2026-02-28');
  t.equal(february.type, 'DOUBLE');
  const total = (february.sums as number[]).reduce((sum, day) => sum + day, 0);
  t.ok(Math.abs(total - 196_001) < 1e-6, 'the days of a spread month add up to it');
  const whole = await sums('breakdowns.parquet?from=2026-02-01&to=2026-03-10');
  t.match(whole, { type: 'BIGINT', sums: [196_001 + 1901] });
});

t.test('the sum of positions of the other range is that of the same row there, with its type', async (t) => {
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'sums', by: null, at: 0 });
  const read = async (path: string, [from, to]: readonly string[], compare = '') => {
    const asked = `${project}/${path}${path.includes('?') ? '&' : '?'}from=${from}&to=${to}${compare}`;
    const { bytes } = await send(asked, { authorization: `Bearer ${key}`, accept: 'application/vnd.apache.parquet' });
    return readParquet(bytes);
  };
  const [now, base] = [
    ['2026-03-09', '2026-03-10'],
    ['2026-03-08', '2026-03-09'],
  ] as const;
  for (const [path, names, range = now, other = base] of [
    ['keywords', ['id']],
    ['keywords?device=mobile', ['id']],
    ['pages', ['url']],
    ['queries', ['query']],
    ['breakdowns', ['kind', 'value']],
    ['site', [], ['2026-03-05', '2026-03-05'], ['2026-03-01', '2026-03-01']],
    ['site?country=gbr', [], ['2026-03-09', '2026-03-09'], ['2026-02-01', '2026-02-01']],
    ['site?country=gbr', [], ['2026-02-02', '2026-02-02'], ['2026-03-09', '2026-03-09']],
    ['site?type=image', [], ['2026-03-09', '2026-03-09'], ['2026-03-09', '2026-03-09']],
  ] as const) {
    const alone = await read(path, other);
    const compared = await read(path, range, `&compare=${other.join('..')}`);
    const nameOf = (row: Flat): string => names.map((name) => String(row[name])).join();
    const sums = new Map(alone.rows.map((row) => [nameOf(row), row['sum_position']]));
    t.ok(alone.rows.length > 0 && compared.rows.length > 0, path);
    t.strictSame(
      compared.rows.map((row) => row['comparison_sum_position']),
      compared.rows.map((row) => sums.get(nameOf(row)) ?? (nameOf(row).endsWith('anonymous') ? null : 0)),
      path,
    );
    t.equal(compared.types['comparison_sum_position'], alone.types['sum_position'], path);
  }
});

t.test('the format is named by the path, by format or by Accept, in this order', async (t) => {
  const csv = 'text/csv; charset=utf-8';
  const json = 'application/json; charset=utf-8';
  const type = async (path: string, accept?: string) =>
    (await send(`${project}/${path}`, accept === undefined ? {} : { accept })).type;
  t.equal(await type('site.csv'), csv);
  t.equal(await type('site.csv?format=csv', 'application/json'), csv);
  t.equal(await type('site?format=csv', 'application/vnd.apache.parquet'), csv);
  t.equal(await type('site.json', 'text/csv'), json);
  t.equal(await type('site?format=json', 'text/csv'), json);
  t.equal(await type('site', 'text/csv'), csv);
  t.equal(await type('site', 'application/x-ndjson'), 'application/x-ndjson; charset=utf-8');
  t.equal(await type('site', 'application/vnd.apache.arrow.stream'), 'application/vnd.apache.arrow.stream');
  t.equal(await type('site', 'application/vnd.apache.parquet'), 'application/vnd.apache.parquet');
  t.equal(await type('site', 'application/json;q=0.5, text/csv'), csv);
  t.equal(await type('site', 'text/csv;q=0.5, application/json'), json);
  t.equal(await type('site', 'text/csv;q=0.1, */*'), json);
  t.equal(await type('site', 'text/csv, */*;q=0.1'), csv);
  t.equal(await type('site', 'text/csv;q=0'), json);
  for (const accept of [
    '*/*',
    'image/png',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  ]) {
    t.equal(await type('site', accept), json, accept);
  }
});

t.test('errors are JSON, whatever was asked for', async (t) => {
  const refused = async (path: string, words: RegExp) => {
    const { status, type, text, headers } = await send(path, { accept: 'text/csv' });
    t.strictSame([status, type], [400, 'application/json; charset=utf-8'], path);
    t.match(JSON.parse(text), { error: { code: 'invalid_request', message: words } }, path);
    t.notOk(headers['content-disposition'], path);
  };
  await refused(`${project}/site.csv?format=arrow`, /^format .*\.csv/);
  await refused(`${project}/site?format=xlsx`, /^format must be one of json, csv, ndjson, arrow, parquet/);
  await refused(`${project}/site.csv?format=xlsx`, /^format .*\.csv/);
  await refused(`${project}/site?format=`, /^format is empty/);
  await refused(`${project}/site?format=csv&format=csv`, /^format was sent more than once/);
  await refused(`${project}/site.csv?bom=yes`, /^bom must be/);
  await refused(`${project}/site.csv?period=0d`, /^period/);
  await refused(`${project}/keywords.csv?limit=5001`, /^limit .*5000/);
  await refused('/projects.csv?format=json', /^format/);
  t.equal((await send('/projects/nosuc/site.csv?format=json')).status, 404, 'an unknown project goes first');
  t.equal((await send(`${project}/site.xlsx`)).status, 404);
  t.equal((await send(`${project}/groups.csv`)).status, 404);
});

t.test('headers say what JSON says beside its rows', async (t) => {
  // Another one than that of other tests: a key has 120 requests in a minute.
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'headers', by: null, at: 0 });
  const ask = (path: string) => send(path, { authorization: `Bearer ${key}` });
  const site = await ask(`${project}/site.csv?period=7d`);
  t.match(site.headers, {
    'x-total-count': '7',
    'x-range-from': '2026-03-04',
    'x-range-to': '2026-03-10',
    'x-provisional-after': '2026-03-07',
    'content-disposition': 'attachment; filename="shop.example-site-2026-03-04-2026-03-10.csv"',
    'cache-control': 'no-store',
    'x-ratelimit-limit': 120,
  });
  const keywords = await ask(`${project}/keywords.csv?limit=2&offset=3`);
  t.equal(keywords.headers['x-total-count'], String(HOSTILE.length));
  t.equal(parseCsv(keywords.text).length, 3, 'with a limit, a page');
  t.equal((await ask('/projects.parquet')).headers['content-disposition'], 'attachment; filename="projects.parquet"');
  const withMark = await ask(`${project}/site.csv?bom=1`);
  t.equal(withMark.bytes.subarray(0, 3).toString('hex'), 'efbbbf');
  t.equal(withMark.text.slice(1).startsWith('date,'), true);
});

t.test('quality is in a header, and in the metadata of files that have some', async (t) => {
  // Another one than that of other tests: a key has 120 requests in a minute.
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'quality', by: null, at: 0 });
  const ask = (path: string) => send(path, { authorization: `Bearer ${key}` });
  for (const path of ['site', 'keywords', 'breakdowns', 'pages', 'queries', 'keywords?daily=1']) {
    const asked = `${project}/${path}${path.includes('?') ? '&' : '?'}period=28d`;
    const { quality } = JSON.parse((await ask(`${asked}&quality=1`)).text) as { quality: object };
    for (const format of ['csv', 'ndjson', 'arrow', 'parquet']) {
      const sent = await ask(`${asked}&quality=1&format=${format}`);
      t.strictSame(JSON.parse(String(sent.headers['x-quality'])), quality, `${path} ${format}`);
      const plain = await ask(`${asked}&format=${format}`);
      t.notOk('x-quality' in plain.headers, `${path} ${format}, not asked for`);
      if (format === 'csv' || format === 'ndjson') t.equal(sent.text, plain.text, 'the rows are the same');
      const metadata = format === 'arrow' ? arrowMetadata : format === 'parquet' ? parquetMetadata : undefined;
      if (metadata === undefined) continue;
      t.strictSame(JSON.parse((await metadata(sent.bytes))['quality'] ?? ''), quality, `${path} ${format}`);
      t.notOk('quality' in (await metadata(plain.bytes)));
    }
  }
});

t.test('without a limit all rows come, with one a page', async (t) => {
  const many = await makeWorld(t, {
    keywords: Array.from({ length: 1200 }, (_, index) =>
      keyword(`K${String(index).padStart(4, '0')}`, `query ${index}`),
    ),
    query_daily: facts(
      'date query country',
      ...Array.from({ length: 11_000 }, (_, index) => [
        '2026-03-09',
        `query ${index}`,
        'gbr',
        20_000 - index,
        20_000,
        5,
      ]),
    ),
    alerts: Array.from({ length: 150 }, (_, index) => ({
      ...TABLES['alerts']![0],
      keyword_id: null,
      id: `5e1f0000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    })),
  });
  const count = async (path: string) => parseNdjson((await send(`${project}/${path}`, {}, many)).text).length;
  t.equal(await count('keywords.ndjson'), 1200);
  t.equal(await count('keywords.ndjson?limit=1000'), 1000);
  t.equal(await count('keywords.ndjson?offset=1100'), 100);
  t.equal(await count('alerts.ndjson'), 150);
  t.equal(await count('alerts.ndjson?limit=100'), 100);
  t.equal(await count('queries.ndjson?limit=700'), 700);
  const rows = parseNdjson((await send(`${project}/queries.ndjson`, {}, many)).text);
  t.strictSame(
    rows.map(({ query }) => query),
    Array.from({ length: 11_000 }, (_, index) => `query ${index}`),
    'the whole list, in its order',
  );
  const parquet = await readParquet((await send(`${project}/queries.parquet`, {}, many)).bytes);
  t.strictSame(
    parquet.rows.map(({ query }) => query),
    rows.map(({ query }) => query),
  );
  t.equal(readArrow((await send(`${project}/queries.arrow`, {}, many)).bytes).rows.length, 11_000);
  t.match(await many.ask('/keywords'), { body: { paging: { limit: 1000 }, keywords: { length: 1000 } } });
});

t.test('rows come compressed where a client takes that, Parquet as it is', async (t) => {
  const decoded = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
  // Each key may send so many requests.
  const { key } = await createKey(world.catalog, { workspace: 'acme', name: 'encodings', by: null, at: 0 });
  const other = { ...world, key };
  for (const format of ['csv', 'ndjson', 'arrow'] as const) {
    const plain = await send(`${project}/site.${format}?period=2m`, {}, other);
    for (const [encoding, decode] of Object.entries(decoded)) {
      const sent = await send(`${project}/site.${format}?period=2m`, { 'accept-encoding': encoding }, other);
      t.equal(sent.headers['content-encoding'], encoding, format);
      t.ok(decode(sent.bytes).equals(plain.bytes), `${format} ${encoding}`);
    }
  }
  const parquet = await send(`${project}/site.parquet?period=2m`, { 'accept-encoding': 'gzip' }, other);
  t.equal(parquet.headers['content-encoding'], undefined);
});

t.test('answers without rows are whole files too', async (t) => {
  const empty = await makeWorld(t, {});
  t.equal((await send(`${project}/keywords.csv`, {}, empty)).text.split('\r\n').length, 2);
  t.equal((await send(`${project}/keywords.ndjson`, {}, empty)).text, '');
  const arrow = readArrow((await send(`${project}/keywords.arrow`, {}, empty)).bytes);
  t.equal(arrow.types['trackedSince'], 'Timestamp<MILLISECOND, UTC>');
  const { rows, types } = await readParquet((await send(`${project}/keywords.parquet`, {}, empty)).bytes);
  t.match([rows.length, types], [0, { clicks: 'BIGINT' }]);
});
