// Winners, losers, new and gone rows of a list are those whose numbers changed so, the greatest change first.
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { facts, keyword, makeWorld, type Row } from '../world.ts';
import { dashboardOf } from './dashboard-of.ts';

const LAST = '2026-03-10';
const BEFORE = addDays(LAST, -7);
const RANGE = `from=${addDays(LAST, -6)}&to=${LAST}&compare=previous`;

/** By name: clicks, impressions and the sum of positions from zero, before and now; null without a row. */
const ROWS: Readonly<Record<string, readonly [readonly number[] | null, readonly number[] | null]>> = {
  'grew most': [
    [10, 100, 400],
    [90, 300, 900],
  ],
  grew: [
    [10, 100, 400],
    [12, 110, 440],
  ],
  same: [
    [7, 70, 100],
    [7, 70, 100],
  ],
  fell: [
    [50, 500, 500],
    [20, 500, 2500],
  ],
  appeared: [null, [30, 200, 800]],
  'appeared too': [null, [3, 40, 100]],
  vanished: [[25, 100, 200], null],
};
const rowsOf = (keyOf: (name: string) => string, more: readonly string[] = []): (string | number)[][] =>
  Object.entries(ROWS).flatMap(([name, parts]) =>
    [BEFORE, LAST].flatMap((day, index) => {
      const part = parts[index];
      return part ? [[keyOf(name), day, ...more, ...part]] : [];
    }),
  );

const IDS = Object.keys(ROWS).map((name, index): [string, string] => [name, `Kw00${index}`]);
const world = await makeWorld(t, {
  keywords: IDS.map(([name, id]) => keyword(id, name)),
  keyword_daily: facts('keyword_id date device', ...rowsOf((name) => new Map(IDS).get(name)!, ['mobile'])) as Row[],
  query_daily: facts('query date country', ...rowsOf((name) => name, ['gbr'])),
  page_daily: facts(
    'url date country',
    ...rowsOf((name) => `https://shop.example/${name.replaceAll(' ', '-')}`, ['gbr']),
  ),
});
const ask = await dashboardOf(world);

const names = (body: unknown, kind: string): string[] => {
  const rows = (body as Record<string, { query?: string; url?: string }[]>)[kind]!;
  return rows.map(({ query, url }) => query ?? url!.replace('https://shop.example/', '').replaceAll('-', ' '));
};

for (const kind of ['queries', 'pages', 'keywords']) {
  t.test(kind, async (t) => {
    const movers = async (change: string, more = '') => {
      const { status, body } = await ask(`Proj1/movers?kind=${kind}&change=${change}&${RANGE}${more}`);
      t.equal(status, 200, JSON.stringify(body));
      return { body: body as { paging: { total: number }; isCut: boolean }, names: names(body, kind) };
    };
    t.strictSame((await movers('up')).names, ['grew most', 'grew']);
    t.strictSame((await movers('down')).names, ['fell']);
    t.strictSame((await movers('new')).names, ['appeared', 'appeared too']);
    t.strictSame((await movers('gone')).names, ['vanished']);
    t.strictSame((await movers('up', '&by=position')).names, ['grew most'], 'a smaller position is better');
    t.strictSame((await movers('down', '&by=impressions')).names, []);
    const second = await movers('up', '&limit=1&offset=1');
    t.strictSame([second.names, second.body.paging.total, second.body.isCut], [['grew'], 2, false]);
    const field = kind === 'pages' ? 'url' : 'query';
    t.strictSame((await movers('new', `&filter=${field}:contains:too`)).names, ['appeared too']);
  });
}

t.test('a gone row has no numbers now, and those of before', async (t) => {
  const { body } = await ask(`Proj1/movers?kind=queries&change=gone&${RANGE}`);
  t.match((body as { queries: object[] }).queries[0], {
    query: 'vanished',
    clicks: 0,
    impressions: 0,
    position: null,
    comparison: { clicks: 25, impressions: 100, position: 3 },
    change: { clicks: { difference: -25 } },
  });
});

t.test('as CSV, all rows of a way with the columns of the list', async (t) => {
  const csv = async (query: string) => {
    const { status, headers, body } = await ask(`Proj1/movers.csv?${query}&${RANGE}`);
    t.equal(status, 200, String(body));
    t.match(headers['content-type'], 'text/csv');
    return { name: headers['content-disposition'], lines: String(body).replace(/\r\n$/, '').split('\r\n') };
  };
  const up = await csv('kind=queries&change=up&limit=1');
  t.match(up.name, /filename="shop.example-queries-up-\d.*\.csv"/);
  t.match(up.lines, [/^query,clicks,impressions,ctr,position/, /^grew most,90,300,/, /^grew,12,110,/]);
  t.equal(up.lines.length, 3);
  t.match((await csv('kind=pages&change=gone')).lines[1], /^https:\/\/shop.example\/vanished,0,0,/);
  t.match((await csv('kind=keywords&change=new')).lines[1], /^Kw004,appeared,/);
  t.ok((await csv('kind=queries&change=up&bom=1')).lines[0]!.startsWith('\ufeff'), 'for Excel');
  t.equal((await ask(`Proj1/movers.csv?kind=queries&change=up&from=${LAST}&to=${LAST}`)).status, 400);
});

t.test('what is wrong is named', async (t) => {
  for (const [query, text] of [
    [`kind=queries&change=up&from=${LAST}&to=${LAST}`, 'compare is missing'],
    [`kind=days&change=up&${RANGE}`, 'kind must be one of'],
    [`kind=queries&change=sideways&${RANGE}`, 'change must be one of up, down, new, gone'],
    [`kind=queries&by=rank&${RANGE}`, 'by must be one of'],
    [`kind=pages&filter=query:contains:a&${RANGE}`, 'filter'],
  ]) {
    const { status, body } = await ask(`Proj1/movers?${query}`);
    t.equal(status, 400, text!);
    t.match((body as { error: { message: string } }).error.message, text!);
  }
  t.equal((await ask(`Other/movers?kind=queries&${RANGE}`)).status, 404);
});
