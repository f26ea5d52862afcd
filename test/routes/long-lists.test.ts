// Lists of many rows are filtered, sorted, cut into pages and written like short ones.
import t from 'tap';
import { parseCsv, parseNdjson, readArrow, readParquet } from '../formats/read.ts';
import { facts, keyword, makeWorld, NOW, type Row } from '../world.ts';

interface Listed {
  readonly text: string;
  readonly clicks: number;
  readonly impressions: number;
  readonly sum: number;
}

/** More rows than are read, searched, sorted or written at once: in no order, with equal numbers, and some without impressions. */
const listOf = (length: number, name: string): Listed[] =>
  Array.from({ length }, (_, at) => {
    const number = (at * 7919) % 10_007;
    const impressions = at % 997 === 0 ? 0 : number * (at % 5 === 0 ? 500_000 : 1) + 1;
    return {
      text: `${['Query', 'query', 'QÜERY', '🥾 query', '\uff21 query'][at % 5]!} ${number % 503} ${name} ${at}`,
      clicks: Math.min(impressions, number % 11),
      impressions,
      sum: impressions * (at % 7),
    };
  });
const [queries, keywords] = [listOf(11_000, 'red'), listOf(3000, 'blue')];
const sums = ({ clicks, impressions, sum }: Listed): number[] => [clicks, impressions, sum];
const day = '2026-03-09';
/** Of another range. */
const DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'];
let time = NOW;
const world = await makeWorld(
  t,
  {
    keywords: keywords.map(({ text }, at) => keyword(`K${String(at).padStart(4, '0')}`, text)),
    keyword_daily: facts(
      'keyword_id date device',
      ...keywords.map((row, at) => [`K${String(at).padStart(4, '0')}`, day, 'mobile', ...sums(row)]),
      ...keywords.flatMap((row, at) =>
        DAYS.map((date, of) => [`K${String(at).padStart(4, '0')}`, date, 'mobile', of, row.impressions + of, 0]),
      ),
    ),
    query_daily: facts('date query country', ...queries.map((row) => [day, row.text, 'gbr', ...sums(row)])),
  },
  { now: () => (time += 1000) },
);

const bytes = (text: string): Buffer => Buffer.from(text);
const byText = (a: Listed, b: Listed): number => Buffer.compare(bytes(a.text), bytes(b.text));
const descending =
  (name: 'clicks' | 'impressions') =>
  (a: Listed, b: Listed): number =>
    b[name] - a[name];
/** Ratios that are not known come last in either direction. */
const ratio =
  (of: (row: Listed) => number, sign: number) =>
  (a: Listed, b: Listed): number =>
    a.impressions === 0 || b.impressions === 0
      ? Number(a.impressions === 0) - Number(b.impressions === 0)
      : sign * (of(a) - of(b));
const ctr = ({ clicks, impressions }: Listed): number => clicks / impressions;
const place = ({ sum, impressions }: Listed): number => sum / impressions;
type Order = (a: Listed, b: Listed) => number;
const inTurn =
  (...orders: Order[]): Order =>
  (a, b) =>
    orders.reduce((found, order) => found || order(a, b), 0);
const lower = ({ text }: Listed): string => text.toLowerCase();

const FILTERS: readonly (readonly [filter: string, (row: Listed) => boolean])[] = [
  ['', () => true],
  ['query:contains:QUERY 5', (row) => lower(row).includes('query 5')],
  ['query:not_contains:17', (row) => !row.text.includes('17')],
  ['query:contains:9;query:not_contains:99', ({ text }) => text.includes('9') && !text.includes('99')],
  ['query:contains:qü', (row) => lower(row).includes('qü')],
  ['clicks:gte:10;query:contains:3 1', ({ text, clicks }) => clicks >= 10 && text.includes('3 1')],
  ['query:matches:^q.*7$;impressions:gt:5000', (row) => /^q.*7$/s.test(lower(row)) && row.impressions > 5000],
  ['query:starts_with:🥾;position:lte:3', (row) => row.text.startsWith('🥾') && row.impressions > 0 && place(row) <= 2],
  ['ctr:lt:0.001', (row) => row.impressions > 0 && ctr(row) < 0.001],
];
const SORTS: readonly (readonly [sort: string, Order])[] = [
  ['query', byText],
  ['-query', (a, b) => byText(b, a)],
  ['-clicks,query', inTurn(descending('clicks'), byText)],
  ['-impressions,query', inTurn(descending('impressions'), byText)],
  ['ctr,-query', inTurn(ratio(ctr, 1), (a, b) => byText(b, a))],
  ['-ctr,-impressions,query', inTurn(ratio(ctr, -1), descending('impressions'), byText)],
  ['-position,clicks,query', inTurn(ratio(place, -1), (a, b) => a.clicks - b.clicks, byText)],
];

t.test('filters, orders and pages', async (t) => {
  for (const [name, rows, own, tied, most] of [
    ['queries', queries, inTurn(descending('clicks'), descending('impressions'), byText), 'branded', 25_000],
    ['keywords', keywords, byText, '-intent', 5000],
  ] as const) {
    for (const [at, [filter, isFound]] of FILTERS.entries()) {
      const sorts = [
        ['', own] as const,
        [tied, own] as const,
        SORTS[at % SORTS.length]!,
        SORTS[(at + 3) % SORTS.length]!,
      ];
      for (const [sort, order] of sorts) {
        const expected = rows.filter(isFound).toSorted(order);
        const query = `filter=${encodeURIComponent(filter)}&sort=${sort}`.replaceAll(/\w+=(&|$)/g, '');
        for (const [offset, limit] of [
          [0, most],
          [Math.max(0, expected.length - 2), 5],
        ] as const) {
          const { body } = await world.ask(`/${name}?${query}&limit=${limit}&offset=${offset}`);
          const texts = (body[name] as Row[]).map((row) => row['query']);
          const wanted = expected.slice(offset, offset + limit).map(({ text }) => text);
          t.strictSame(body.paging, { total: expected.length, limit, offset }, `${name}?${query}`);
          // The first difference says more than thousands of rows.
          const differs = wanted.findIndex((text, place) => text !== texts[place]);
          t.strictSame([texts.length, differs, texts[differs]], [wanted.length, -1, undefined], `${name}?${query}`);
        }
      }
    }
  }
});

t.test('all rows in every format; with a limit or an offset, a page', async (t) => {
  const send = async (path: string) => {
    const headers = { authorization: `Bearer ${world.key}` };
    return world.app.inject({ url: `/api/v1/projects/Proj1/${path}`, headers });
  };
  const rows = queries
    .toSorted(inTurn(descending('clicks'), descending('impressions'), byText))
    .map(({ text, clicks, impressions }) => ({ query: text, clicks, impressions }));
  const read: Readonly<Record<string, (path: string) => Promise<Row[]>>> = {
    csv: async (path) =>
      parseCsv((await send(path)).body)
        .slice(1)
        .map(([query, clicks, impressions]) => ({ query, clicks: Number(clicks), impressions: Number(impressions) })),
    ndjson: async (path) => parseNdjson((await send(path)).body),
    arrow: async (path) => readArrow((await send(path)).rawPayload).rows,
    parquet: async (path) => (await readParquet((await send(path)).rawPayload)).rows,
  };
  for (const [format, rowsOf] of Object.entries(read))
    for (const [page, expected] of [
      ['', rows],
      ['?limit=700', rows.slice(0, 700)],
      ['?offset=9000', rows.slice(9000, 10_000)],
      ['?offset=4999&limit=2', rows.slice(4999, 5001)],
    ] as const) {
      const found = (await rowsOf(`queries.${format}${page}`)).map(({ query, clicks, impressions }) => ({
        query,
        clicks,
        impressions,
      }));
      t.strictSame(found, expected, `${format} ${page}`);
    }
});

t.test('days of many keywords keep their dates in every format', async (t) => {
  const url = `/api/v1/projects/Proj1/keywords?from=${DAYS[0]}&to=${DAYS[2]}&daily=1&format=`;
  const headers = { authorization: `Bearer ${world.key}` };
  const [csv, arrow] = await Promise.all(
    ['csv', 'arrow'].map((format) => world.app.inject({ url: url + format, headers })),
  );
  const expected = keywords
    .toSorted(byText)
    .flatMap(({ text, impressions }) => DAYS.map((date, of) => [text, date, of, impressions + of]));
  const found = parseCsv(csv!.body)
    .slice(1)
    .map(([, query, date, clicks, impressions]) => [query, date, Number(clicks), Number(impressions)]);
  t.strictSame(found, expected);
  const { rows } = readArrow(arrow!.rawPayload);
  t.strictSame(
    rows.map((row) => [row['query'], row['date'], row['clicks'], row['impressions']]),
    expected,
  );
});
