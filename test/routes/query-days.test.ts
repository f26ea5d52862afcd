// A question about days that are not whole is refused, or says so: keywords still fetched, days cut off or failed.
import t from 'tap';
import { putSyncDays, putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { readArrow, readParquet } from '../formats/read.ts';
import { syncDay } from '../sync-day.ts';
import { facts, keyword, makeWorld, PROJECT } from '../world.ts';

const member = (group_id: string, keyword_id: string) => ({ project_id: 'Proj1', group_id, keyword_id });
const group = (id: string) => ({ project_id: 'Proj1', id, name: id, kind: 'manual', position: 1 });
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-09'];

const world = await makeWorld(t, {
  projects: [PROJECT],
  keywords: [keyword('Kw001', 'red shoes'), keyword('Kw002', 'blue shoes'), keyword('Kw003', 'boots')],
  groups: [group('Whole'), group('Mixed')],
  group_members: [member('Whole', 'Kw001'), member('Mixed', 'Kw001'), member('Mixed', 'Kw002')],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', 10, 100, 0])),
  keyword_daily: facts(
    'keyword_id date device',
    ...DAYS.map((day) => ['Kw001', day, 'mobile', 3, 30, 0]),
    ['Kw002', '2026-03-03', 'mobile', 2, 20, 0],
    ['Kw002', '2026-03-09', 'mobile', 1, 10, 0],
  ),
  keyword_page_daily: facts(
    'keyword_id date url',
    ...DAYS.map((day) => ['Kw001', day, 'https://shop.example/', 3, 30, 0]),
  ),
  query_daily: facts('query date country', ...DAYS.map((day) => ['red shoes', day, 'usa', 4, 40, 0])),
  country_daily: facts('date country', ...DAYS.map((day) => [day, 'usa', 9, 90, 0])),
});

await putSyncDays(world.catalog, 'Proj1', [
  syncDay('query_daily', '2026-03-02', { cutOff: true }),
  syncDay('country_daily', '2026-03-02', { state: 'failed' }),
]);
await putSyncKeywords(
  world.catalog,
  'Proj1',
  [
    ['Kw001', 'red shoes', '2026-03-01'],
    ['Kw002', 'blue shoes', '2026-03-03'],
    ['Kw003', 'boots', '2026-03-01'],
  ].map(([id, query, from]) => ({ id: id!, query: query!, from: from!, to: '2026-03-10' })),
);

const RANGE = { from: '2026-03-01', to: '2026-03-03' };
const ask = (question: object) =>
  world.get(`/projects/Proj1/query?q=${encodeURIComponent(JSON.stringify({ range: RANGE, ...question }))}`);
const clicksOf = async (question: object): Promise<unknown> => {
  const { status, body } = await ask({ metrics: ['clicks'], ...question });
  return status === 200 ? (body.rows as { clicks: number }[]).map(({ clicks }) => clicks) : body.error.message;
};

t.test('a keyword that lacks days is refused, and what does not need it is answered', async (t) => {
  const lacks = /^range: 1 of the keywords \('blue shoes'\) lack days of the range, which are still being loaded/;
  for (const question of [
    { dimensions: ['keyword'] },
    { dimensions: ['date'], filters: [['starts_with', 'keyword', ['blue']]] },
    { dimensions: ['device'], filters: [['contains', 'keyword', ['shoes']]] },
    { dimensions: ['group'] },
    { filters: [['equals', 'group', ['Mixed']]] },
    { dimensions: ['keyword', 'page'] },
    { dimensions: ['page'], filters: [['or', ['equals', 'keyword', ['boots']], ['contains', 'page', ['/']]]] },
  ]) {
    const { status, body } = await ask(question);
    t.match([status, body.error?.message], [400, lacks], JSON.stringify(question));
    const [{ filters }] = body.nearest as [{ filters: unknown[] }];
    const nearest = await ask({ ...question, filters });
    t.equal(nearest.status, 200, `${JSON.stringify(filters)}: the nearest question is answered`);
  }
  t.strictSame(await clicksOf({ dimensions: ['keyword'], filters: [['equals', 'keyword', ['red shoes']]] }), [9]);
  t.strictSame(await clicksOf({ dimensions: ['group'], filters: [['equals', 'group', ['Whole']]] }), [9]);
  const not = ['not', ['equals', 'keyword', ['blue shoes']]];
  t.strictSame(await clicksOf({ dimensions: ['date'], filters: [not] }), [3, 3, 3]);
  const since = { from: '2026-03-03', to: '2026-03-03' };
  t.strictSame(await clicksOf({ dimensions: ['keyword'], range: since }), [3, 2], 'all days that it has');
  t.strictSame(await clicksOf({ dimensions: ['query'] }), [12], 'of queries nothing lacks');
});

t.test('what a keyword had is unknown where it lacks days, in each format and of either range', async (t) => {
  const read = async (format: string, days: string) => {
    const url = `/api/v1/projects/Proj1/keywords.${format}?${days}`;
    const headers = { authorization: `Bearer ${world.key}` };
    const { rawPayload } = await world.app.inject({ url, headers });
    const { rows } = format === 'arrow' ? readArrow(rawPayload) : await readParquet(rawPayload);
    const left = new Set(['id', 'source', 'trackedSince', 'intent', 'groupIds']);
    return rows.map((row) =>
      Object.entries(row)
        .filter(([name]) => !left.has(name))
        .map(([, value]) => (value === null ? '' : String(value as string | number)))
        .join(),
    );
  };
  const lacking = 'from=2026-03-01&to=2026-03-02';
  for (const format of ['arrow', 'parquet']) {
    t.strictSame(await read(format, lacking), ['blue shoes,,,,,', 'boots,0,0,,,0', 'red shoes,6,60,0.1,1,0'], format);
    t.strictSame(
      (await read(format, 'from=2026-03-09&to=2026-03-09&compare=2026-03-01..2026-03-01')).map((row) =>
        row.split(',').slice(0, 9).join(),
      ),
      ['blue shoes,1,10,0.1,1,,,,', 'boots,0,0,,,0,0,,', 'red shoes,3,30,0.1,1,3,30,0.1,1'],
      `${format}, of the other range`,
    );
  }
});

t.test('a keyword that lacks days of the other range only: the same is answered without it', async (t) => {
  const range = { from: '2026-03-09', to: '2026-03-09' };
  const question = { dimensions: ['keyword'], range, compare: { from: '2026-03-02', to: '2026-03-02' } };
  const { status, body } = await ask(question);
  t.match([status, body.error?.message], [400, /^compare: 1 of the keywords \('blue shoes'\) lack days/]);
  t.strictSame(body.nearest[0], { compare: null });
  t.strictSame(await clicksOf({ ...question, compare: undefined }), [3, 1]);
});

t.test('a day of which the search engine returned a part is told, and a comparison with it is unsafe', async (t) => {
  const { body } = await ask({ dimensions: ['query'] });
  t.strictSame(body.remainder, { clicks: 18, impressions: 180, why: ['anonymised', 'cut_off'] });
  const one = { from: '2026-03-01', to: '2026-03-01' };
  const other = await ask({ dimensions: ['query'], range: one });
  t.strictSame(other.body.remainder.why, ['anonymised'], 'other days are whole');
  const next = { from: '2026-03-02', to: '2026-03-02' };
  for (const [range, compare] of [
    [one, next],
    [next, one],
  ]) {
    const compared = await ask({ dimensions: ['query'], range, compare });
    const unsafe = { impressions: ['cut_off'], ctr: ['cut_off'] };
    t.match(compared.body, { rows: [{ unsafe }], totals: { unsafe } });
  }
  const whole = await ask({ dimensions: ['query'], range: one, compare: { from: '2026-03-03', to: '2026-03-03' } });
  t.strictSame(whole.body.rows[0].unsafe, { clicks: ['low_base'] });
});

t.test('a day that could not be fetched is refused', async (t) => {
  const { body } = await ask({ dimensions: ['country'] });
  t.match(body.error, { message: /^range: the country of 2026-03-02 is not known\. .*from 2026-03-01 to 2026-03-01/ });
  t.strictSame(await clicksOf({ dimensions: ['country'], range: { from: '2026-03-03', to: '2026-03-03' } }), [9]);
});

t.test('provisional days are told; days after the last synced one have nothing', async (t) => {
  const range = { from: '2026-03-09', to: '2026-03-14' };
  const { body } = await ask({ dimensions: ['week'], range, compare: { from: '2026-03-01', to: '2026-03-06' } });
  t.match(body, {
    range: { ...range, provisionalAfter: '2026-03-07' },
    rows: [{ week: '2026-03-09', days: 2, clicks: 10, unsafe: { clicks: ['provisional', 'missing_days'] } }],
  });
  const final = await ask({ dimensions: ['date'], range: { period: '7d', to: 'final' } });
  t.match(final.body, { range: { from: '2026-03-01', to: '2026-03-07' } });
});
