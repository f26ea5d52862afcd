// Every endpoint gives the same data in every format, chosen by path, parameter or Accept header.
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, NOW, type Row } from '../world.ts';
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

const QUERIES = ['zebra', '=cmd("x")', 'a "b", c\r\nd', "it's; ümlaut 🥾", 'without data'];
/** More rows than are compressed at once. */
const MANY = Array.from({ length: 11_000 }, (_, at) => `query ${String(at).padStart(5, '0')}`);
let time = NOW;
const world = await makeWorld(
  t,
  {
    keywords: QUERIES.map((query, at) => keyword(`Kw00${at}`, query)),
    keyword_daily: facts(
      'keyword_id date device',
      ...QUERIES.slice(0, -1).flatMap((_, at) => [
        [`Kw00${at}`, '2026-03-08', 'mobile', 9 - at, 32, 64 + at],
        [`Kw00${at}`, '2026-02-10', 'desktop', at, 40, 2 ** 40 + at],
      ]),
    ),
    site_daily: facts(
      'date device',
      ['2026-01-31', 'mobile', 1, 1, 0],
      ['2026-02-10', 'mobile', 30, 700, 6001],
      ['2026-03-01', 'desktop', 3, 7, 2 ** 45 + 1],
      ['2026-03-10', 'mobile', 1, 32, 64],
    ),
    site_hourly: facts(
      'date hour',
      ['2026-03-08', '2026-03-08T09:00:00Z', 2, 31, 140],
      ['2026-03-08', '2026-03-08T12:00:00Z', 4, 46, 180],
    ),
    ai_daily: [{ project_id: 'Proj1', date: '2026-03-09', ai_impressions: 2 ** 33 }],
    citation_page_period: [
      { project_id: 'Proj1', first_day: '2026-03-08', last_day: '2026-03-09', url: 'https://a.example/', citations: 0 },
    ],
    country_daily: facts('date country', ['2026-03-09', 'gbr', 8, 200, 1901]),
    country_monthly: facts('month country', ['2026-02-01', 'gbr', 900, 28_001, 196_001]),
    page_daily: facts('date url country', ['2026-03-09', 'https://a.example/', 'gbr', 9, 40, 77]),
    query_daily: facts(
      'date query country',
      ...MANY.map((query, at) => [
        '2026-03-09',
        query,
        'gbr',
        Math.floor((MANY.length - at) / 3),
        20_000,
        2 ** 33 + at,
      ]),
    ),
  },
  { now: () => (time += 1000) },
);

async function send(path: string, headers: Readonly<Record<string, string>> = {}) {
  const url = `/api/v1${path.startsWith('/') ? path : `/projects/Proj1/${path}`}`;
  const response = await world.app.inject({ url, headers: { authorization: `Bearer ${world.key}`, ...headers } });
  const { statusCode: status, rawPayload: bytes, body: text } = response;
  return { status, headers: response.headers, type: response.headers['content-type'], bytes, text };
}

const inFormat = (path: string, format: string) => `${path}${path.includes('?') ? '&' : '?'}format=${format}`;
const flat = (row: Row): Row =>
  Object.assign(
    {},
    ...Object.entries(row).map(([name, value]) =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([inner, of]) => [`${name}_${inner}`, of as unknown]))
        : { [name]: value },
    ),
  ) as Row;

// The contract suite has the others; these are flat rows of its own kind.
for (const [path, rowsOf] of [
  ['hours?from=2026-03-08', ({ hours }) => hours!],
  ['ai?period=2m', ({ rows }) => rows!],
  ['ai?period=2m&by=page', ({ rows }) => rows!],
  ['explain?by=keyword&limit=3', ({ rows }) => rows!.map(flat)],
] as readonly [string, (body: Record<string, Row[]>) => Row[]][]) {
  t.test(`${path}: every format says the same`, async (t) => {
    const expected = rowsOf(JSON.parse((await send(path)).text) as Record<string, Row[]>);
    t.ok(expected.length > 0);
    const { text } = await send(inFormat(path, 'ndjson'));
    const lines = parseNdjson(text);
    for (const [, name = '', value = ''] of text.matchAll(/"(\w+)":(-?[\d.]+)[,}]/g))
      t.equal(value.includes('.'), AVERAGE.test(name), `${name}: ${value}`);
    t.match(lines.slice(0, expected.length), expected);
    const columns = Object.keys(lines[0]!);
    const cells = (row: Row): string[] =>
      columns.map((name) => {
        const value = row[name];
        if (value === null) return '';
        const cell = typeof value === 'number' ? numberText(name, value) : String(value as string);
        return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${cell}` : cell;
      });
    t.strictSame(parseCsv((await send(inFormat(path, 'csv'))).text), [columns, ...lines.map(cells)]);
    const arrow = readArrow((await send(inFormat(path, 'arrow'))).bytes);
    t.strictSame(
      arrow.rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'sum_position'))),
      lines,
    );
    t.strictSame((await readParquet((await send(inFormat(path, 'parquet'))).bytes)).rows, arrow.rows);
  });
}

t.test(
  'sums of positions are whole, and fractions only where a month was spread, as those of the other range',
  async (t) => {
    const read = async (path: string) => {
      const { rows, types } = await readParquet((await send(path)).bytes);
      const names = ['sum_position', 'comparison_sum_position'];
      return names.flatMap((name) => (name in types ? [types[name], rows.slice(0, 2).map((row) => row[name])] : []));
    };
    const day = 'from=2026-02-05&to=2026-02-05';
    // 1,000 of the 28,001 impressions whose sum is 196,001.
    const part = 6999.785721938502;
    for (const [path, expected] of [
      ['site.parquet?from=2026-02-28&to=2026-03-01', ['BIGINT', [0, 2 ** 45 + 1]]],
      [`site.parquet?country=gbr&from=2026-02-05&to=2026-02-06`, ['DOUBLE', [part, part]]],
      ['breakdowns.parquet?from=2026-02-01&to=2026-02-28', ['BIGINT', [196_001, 6001]]],
      ['queries.parquet?limit=1', ['BIGINT', [2 ** 33]]],
      [
        `site.parquet?country=gbr&from=2026-03-09&to=2026-03-09&compare=2026-02-05..2026-02-05`,
        ['BIGINT', [1901], 'DOUBLE', [part]],
      ],
      [`site.parquet?country=gbr&${day}&compare=2026-03-09..2026-03-09`, ['DOUBLE', [part], 'BIGINT', [1901]]],
      [
        'keywords.parquet?from=2026-03-08&to=2026-03-08&compare=2026-02-10..2026-02-10&limit=2&sort=-clicks',
        ['BIGINT', [64, 65], 'BIGINT', [2 ** 40, 2 ** 40 + 1]],
      ],
    ] as const)
      t.strictSame(await read(path), expected, path);
  },
);

t.test('the format is named by the path, by format or by Accept, in this order; refusals are JSON', async (t) => {
  const [csv, json] = ['text/csv; charset=utf-8', 'application/json; charset=utf-8'];
  for (const [path, accept, type] of [
    ['site.csv', '*/*', csv],
    ['site.csv?format=csv', 'application/json', csv],
    ['site?format=csv', 'application/vnd.apache.parquet', csv],
    ['site.json', 'text/csv', json],
    ['site?format=json', 'text/csv', json],
    ['site', 'text/csv', csv],
    ['site', 'application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    ['site', 'application/vnd.apache.arrow.stream', 'application/vnd.apache.arrow.stream'],
    ['site', 'application/vnd.apache.parquet', 'application/vnd.apache.parquet'],
    ['site', 'application/json;q=0.5, text/csv', csv],
    ['site', 'text/csv;q=0.5, application/json', json],
    ['site', 'text/csv;q=0.1, */*', json],
    ['site', 'text/csv, */*;q=0.1', csv],
    ['site', 'text/csv;q=0', json],
    ['site', '*/*', json],
    ['site', 'image/png', json],
    ['site', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', json],
    ['site.csv?period=0d', 'text/csv', json],
    ['site?format=xlsx', 'text/csv', json],
  ] as const) {
    const { status, headers, type: sent } = await send(path, { accept });
    t.strictSame(
      [sent, 'content-disposition' in headers],
      [type, status === 200 && type !== json],
      `${path} ${accept}`,
    );
  }
});

t.test('headers say what JSON says beside its rows', async (t) => {
  t.match((await send('site.csv?period=7d&bom=1')).headers, {
    'x-total-count': '7',
    'x-range-from': '2026-03-04',
    'x-range-to': '2026-03-10',
    'x-provisional-after': '2026-03-07',
    'content-disposition': 'attachment; filename="shop.example-site-2026-03-04-2026-03-10.csv"',
    'cache-control': 'no-store',
  });
  t.match((await send('keywords.csv?limit=2&offset=3')).headers, { 'x-total-count': String(QUERIES.length) });
  t.equal((await send('/projects.parquet')).headers['content-disposition'], 'attachment; filename="projects.parquet"');
  const marked = await send('site.csv?bom=1');
  t.strictSame([marked.bytes.subarray(0, 3).toString('hex'), marked.text.slice(1, 6)], ['efbbbf', 'date,']);
  for (const path of ['site?period=28d', 'keywords?period=28d&daily=1', 'breakdowns?period=28d', 'queries?limit=2']) {
    const { quality } = JSON.parse((await send(`${path}&quality=1`)).text) as { quality: object };
    for (const [format, metadata] of [
      ['csv', undefined],
      ['ndjson', undefined],
      ['arrow', arrowMetadata],
      ['parquet', parquetMetadata],
    ] as const) {
      const sent = await send(`${path}&quality=1&format=${format}`);
      const plain = await send(`${path}&format=${format}`);
      t.strictSame(JSON.parse(String(sent.headers['x-quality'])), quality, `${path} ${format}`);
      t.notOk('x-quality' in plain.headers, 'not asked for');
      if (metadata === undefined) t.equal(sent.text, plain.text, 'the rows are the same');
      else {
        t.strictSame(JSON.parse((await metadata(sent.bytes))['quality'] ?? ''), quality, `${path} ${format}`);
        t.notOk('quality' in (await metadata(plain.bytes)), 'not asked for');
      }
    }
  }
});

t.test('rows come compressed where a client takes that, also at the same time; Parquet comes as it is', async (t) => {
  const decoded = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };
  for (const format of ['csv', 'ndjson', 'arrow'] as const)
    for (const path of [`site.${format}?period=2m`, `queries.${format}`]) {
      const { bytes } = await send(path);
      await Promise.all(
        Object.entries(decoded).map(async ([encoding, decode]) => {
          const sent = await send(path, { 'accept-encoding': encoding });
          t.equal(sent.headers['content-encoding'], encoding, path);
          t.ok(decode(sent.bytes).equals(bytes), `${path} ${encoding}`);
        }),
      );
    }
  const parquet = await send('site.parquet?period=2m', { 'accept-encoding': 'gzip' });
  t.equal(parquet.headers['content-encoding'], undefined);
});

t.test('the header leaves out many missing ranges, which proxies would refuse', async (t) => {
  const every = eachDay('2025-11-01', '2026-03-10');
  for (const [ranges, isShown] of [
    [40, true],
    [41, false],
  ] as const) {
    const days = every.filter((_, index) => index % 2 === 0 || index > 2 * ranges);
    const other = await makeWorld(t, {
      site_daily: facts('date device', ...days.map((day) => [day, 'mobile', 1, 2, 3])),
    });
    const query = 'from=2025-11-01&to=2026-03-10&quality=1';
    const { missing } = (await other.ask(`/site?${query}`)).body.quality;
    const headers = { authorization: `Bearer ${other.key}` };
    const csv = await other.app.inject({ url: `/api/v1/projects/Proj1/site.csv?${query}`, headers });
    t.strictSame([missing.length, 'missing' in JSON.parse(String(csv.headers['x-quality']))], [ranges, isShown]);
  }
});
