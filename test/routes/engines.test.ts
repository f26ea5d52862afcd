// Bing is answered by its own days and weeks, never mixed with Google, and refused where it tells nothing.
import t from 'tap';
import { readArrow } from '../formats/read.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { facts, makeWorld, PROJECT, type Row, refusedFor } from '../world.ts';

const week = (start: string): string[] =>
  Array.from({ length: 7 }, (_, index) => new Date(Date.parse(start) + index * 86_400_000).toISOString().slice(0, 10));
/** Weeks end on Thursdays. */
const DAYS = [...week('2026-02-20'), ...week('2026-02-27')];
const [FIRST, SECOND] = ['2026-02-26', '2026-03-05'] as const;
const weekly = (...rows: readonly (readonly [string, string, number, number, number | null])[]) =>
  facts('url week_end', ...rows);
const named = (rows: readonly Row[]): Row[] =>
  rows.map((row) => {
    const { url: query, ...others } = row;
    return { query, ...others };
  });

const PAGES = [
  ['https://acme.example/a', FIRST, 3, 40, 80],
  ['https://acme.example/b', FIRST, 4, 30, 30],
  ['https://acme.example/a', SECOND, 14, 100, 300],
  ['https://acme.example/b', SECOND, 7, 40, null],
  ['https://acme.example/c', SECOND, 0, 10, 90],
] as const;
const world = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  site_daily: facts('date device', ...DAYS.map((day) => [day, 'mobile', 1000, 9000, 0] as const)),
  site_daily_bing: facts(
    'date device',
    ...DAYS.map((day, index) => [day, 'unknown', index < 7 ? 1 : 3, index < 7 ? 10 : 20, 0] as const),
  ),
  page_weekly_bing: weekly(...PAGES),
  query_weekly_bing: named(weekly(['shoes', FIRST, 3, 40, 80], ['acme boots', SECOND, 5, 50, null])),
});
// biome-ignore lint/suspicious/noExplicitAny: answers are picked from
const ask = async (path: string): Promise<any> => (await world.ask(path)).body;

t.test('the site: days without positions, nothing provisional, no events of Google', async (t) => {
  const { range, totals, daily } = await ask(`/site?engine=bing&from=${SECOND}&to=${SECOND}&compare=previous`);
  t.match(range, { from: SECOND, engine: 'bing', device: 'all', country: null, provisionalAfter: null });
  t.match(totals, { clicks: 3, impressions: 20, ctr: 0.15, position: null });
  t.match(totals.comparison, { clicks: 3, position: null });
  t.notOk('position' in totals.unsafe);
  t.match(daily, [{ date: SECOND, clicks: 3, position: null }]);
  const over = await ask('/site?engine=bing&from=2026-03-02&to=2026-03-05&compare=2026-02-20..2026-02-23&quality=1');
  t.strictSame(over.quality.events, []);
});

t.test('days that Bing has not reported yet are left out everywhere, and are not zeros', async (t) => {
  const after = 'from=2026-03-04&to=2026-03-09';
  const { range, totals, daily, quality } = await ask(`/site?engine=bing&${after}&quality=1`);
  t.match(range, { from: '2026-03-04', to: '2026-03-09', lastDay: SECOND });
  const told = ['2026-03-04', SECOND];
  const dates = (rows: readonly Row[]): unknown[] => rows.map(({ date }) => date);
  t.strictSame(dates(daily), told);
  t.match([totals, quality], [{ clicks: 6 }, { daysExpected: 2, daysStored: 2 }]);
  const csv = await world.app.inject({
    url: `/api/v1/projects/Proj1/site.csv?engine=bing&${after}`,
    headers: { authorization: `Bearer ${world.key}` },
  });
  t.strictSame(
    csv.body
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.slice(0, 10)),
    told,
  );
  t.strictSame((await ask(`/site?engine=bing&from=2026-03-06&to=2026-03-09`)).daily, []);
  t.match((await ask(`/site?engine=bing&interval=week&${after}`)).daily, [{ date: '2026-03-04', days: 2, clicks: 6 }]);
  const { projects } = (await world.get(`/portfolio?engine=bing&daily=1&quality=1&${after}`)).body;
  const listed = projects.find(({ id }: Row) => id === 'Proj1');
  t.match(listed, { range: { lastDay: SECOND }, quality: { daysExpected: 2 } });
  t.strictSame(dates(listed.daily), told);
  const compared = await ask('/site?engine=bing&from=2026-03-05&to=2026-03-07&compare=previous');
  t.ok(compared.totals.unsafe.clicks.includes('missing_days'), 'one day is compared with three');
  t.match((await ask(`/site?${after}`)).daily.length, 6, 'Google is known through its last synced day');
});

t.test('google is what is answered without an engine', async (t) => {
  for (const path of ['/site', `/surfaces`]) {
    const asked = `${path}?from=${FIRST}&to=${SECOND}`;
    if (path === '/site') t.strictSame(await ask(`${asked}&engine=google`), await ask(asked));
    t.notOk(JSON.stringify((await ask(asked)).range).includes('engine'));
  }
});

t.test('pages and queries: whole weeks of the range, and whether they add up to days', async (t) => {
  const { range, source, pages } = await ask('/pages?engine=bing&from=2026-02-25&to=2026-03-08');
  t.match(range, { from: '2026-02-27', to: SECOND, engine: 'bing', grain: 'week' });
  t.match(source, { kind: 'bing', truncated: false, reconciled: false });
  t.strictSame(
    pages.map(({ url, clicks, impressions, position }: Row) => [url, clicks, impressions, position]),
    [
      ['https://acme.example/a', 14, 100, 4],
      ['https://acme.example/b', 7, 40, null],
      ['https://acme.example/c', 0, 10, 10],
    ],
  );
  const first = await ask(`/pages?engine=bing&from=2026-02-20&to=${FIRST}`);
  t.match(first, { source: { reconciled: true }, range: { from: '2026-02-20', to: FIRST } });
  const both = await ask(`/pages?engine=bing&from=2026-02-20&to=${SECOND}`);
  t.match(both.pages, [
    { clicks: 17, impressions: 140, position: 3.7 },
    { clicks: 11, impressions: 70, position: null },
    { clicks: 0 },
  ]);
  const { queries } = await ask(`/queries?engine=bing&from=2026-02-20&to=${SECOND}`);
  t.match(queries, [
    { query: 'acme boots', clicks: 5, position: null },
    { query: 'shoes', clicks: 3, position: 3 },
  ]);
  t.equal(queries.length, 2);
});

t.test('filters and orders by position leave unknown ones out and last', async (t) => {
  const weeks = `engine=bing&from=2026-02-27&to=${SECOND}`;
  const urls = async (more: string): Promise<string[]> =>
    ((await ask(`/pages?${weeks}&${more}`)).pages as Row[]).map(({ url }) => String(url).slice(-1));
  t.strictSame(await urls('filter=position:gte:1'), ['a', 'c']);
  t.strictSame(await urls('sort=position'), ['a', 'c', 'b']);
  t.strictSame(await urls('sort=-position'), ['c', 'a', 'b']);
});

t.test('weeks are compared with weeks', async (t) => {
  const { range, pages } = await ask(`/pages?engine=bing&from=2026-02-27&to=${SECOND}&compare=previous`);
  t.strictSame(range.comparison, { from: '2026-02-20', to: FIRST });
  t.match(pages[0], { comparison: { clicks: 3 }, change: { clicks: { difference: 11 }, position: { difference: 1 } } });
  t.match(pages[1], { comparison: { position: 2 }, change: { position: { difference: null, ratio: null } } });
  t.notMatch(pages[0].unsafe.clicks, ['missing_days']);
  const early = await ask(`/pages?engine=bing&from=2026-02-20&to=${FIRST}&compare=previous`);
  t.ok(early.pages[0].unsafe.clicks.includes('missing_days'));
  // What is compared follows from the whole weeks, and not from the days that were sent.
  for (const [from, to] of [
    ['2026-02-25', '2026-03-06'],
    ['2026-02-21', '2026-03-08'],
  ]) {
    const { range: cut } = await ask(`/pages?engine=bing&from=${from}&to=${to}&compare=previous`);
    t.match(cut, { from: '2026-02-27', to: SECOND, comparison: { from: '2026-02-20', to: FIRST } });
  }
  const { range: ofYear } = await ask(`/queries?engine=bing&from=2026-02-25&to=2026-03-08&compare=year`);
  t.match(ofYear, { from: '2026-02-27', comparison: { from: '2025-02-28', to: '2025-03-06' } });
});

t.test('four weeks that happen to be a month are compared with four weeks', async (t) => {
  const ends = ['2026-02-07', '2026-02-14', '2026-02-21', '2026-02-28'] as const;
  const four = await makeWorld(t, {
    page_weekly_bing: weekly(...ends.map((end) => ['https://acme.example/a', end, 3, 40, 80] as const)),
  });
  for (const [compare, comparison] of [
    ['previous', { from: '2026-01-04', to: '2026-01-31' }],
    ['year', { from: '2025-02-02', to: '2025-03-01' }],
  ] as const) {
    const { body } = await four.ask(`/pages?engine=bing&from=2026-02-01&to=2026-02-28&compare=${compare}`);
    t.match(body.range, { from: '2026-02-01', to: '2026-02-28', comparison }, compare);
  }
});

t.test('weeks that are not stored are left out of a range, and a range without any is refused', async (t) => {
  const { range, source, pages } = await ask('/pages?engine=bing&from=2026-01-01&to=2026-03-14');
  t.match(range, { from: '2026-02-20', to: SECOND });
  t.match([source.reconciled, pages.length], [false, 3]);
  for (const days of ['from=2025-01-01&to=2025-02-20', 'from=2026-03-06&to=2026-03-14']) {
    const refused = await world.ask(`/pages?engine=bing&${days}`);
    refusedFor(t, refused, 'from and to');
    t.match(refused.body.error.message, /every seven days from 2026-02-26 to 2026-03-05/);
  }
});

t.test('a load of weeks that end on several weekdays is rejected: days would count twice', async (t) => {
  const rows = [...PAGES, ['https://acme.example/a', '2026-03-07', 1, 10, 0]] as const;
  await t.rejects(world.load({ page_weekly_bing: weekly(...rows) }), /page_weekly_bing\.week_end.*another weekday/s);
});

t.test(
  'a load of weeks that end on another weekday than stored ones is rejected: days would count twice',
  async (t) => {
    const page = 'https://acme.example/a';
    const own = await makeWorld(t, {
      page_weekly_bing: weekly([page, '2026-02-05', 1, 10, 0], [page, '2026-02-12', 2, 20, 0]),
    });
    const weeks = async (): Promise<readonly unknown[]> => {
      const { body } = await own.ask('/pages?engine=bing&from=2026-01-29&to=2026-03-05');
      return [body.range, body.pages[0]?.clicks] as unknown[];
    };
    const before = await weeks();
    for (const [name, ...ends] of [
      ['the next month', '2026-03-06'],
      ['a day later', '2026-02-13'],
      ['between stored weeks', '2026-02-09'],
      ['before them', '2026-01-27', '2026-02-03'],
      ['over the last one', '2026-02-06', '2026-02-13'],
      ['over the first one', '2026-02-04', '2026-02-11'],
    ] as const) {
      const load = own.load({ page_weekly_bing: weekly(...ends.map((end) => [page, end, 1, 10, 0] as const)) });
      await t.rejects(load, /page_weekly_bing\.week_end.*another weekday than stored ones/s, name);
    }
    t.strictSame(await weeks(), before);
    await own.load({ query_weekly_bing: facts('query week_end', ['shoes', '2026-02-13', 1, 10, 0]) });
    await own.load({ page_weekly_bing: weekly([page, '2026-02-19', 4, 40, 0]) });
    t.equal((await weeks())[1], 7, 'a week more');
    const all = ['2026-02-04', '2026-02-11', '2026-02-18', '2026-02-25'];
    await own.load({ page_weekly_bing: weekly(...all.map((end) => [page, end, 1, 10, 0] as const)) });
    t.equal((await weeks())[1], 4, 'weeks that replace all stored ones');
  },
);

t.test('in other formats, unknown positions are empty, with their sums, of the other range too', async (t) => {
  const inFormat = (format: string, days: string) => {
    const url = `/api/v1/projects/Proj1/pages.${format}?engine=bing&${days}`;
    return world.app.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  };
  const { payload } = await inFormat('csv', `from=2026-02-27&to=${SECOND}`);
  t.match(payload, /acme\.example\/b,7,40,0\.175,\r?\n/);
  const exact = async (days: string): Promise<Row[]> => readArrow((await inFormat('arrow', days)).rawPayload).rows;
  const second = `from=2026-02-27&to=${SECOND}`;
  const first = `from=2026-02-20&to=${FIRST}`;
  t.match(await exact(`${second}&compare=2026-02-20..${FIRST}`), [
    { sum_position: 300, comparison_sum_position: 80 },
    { sum_position: null, comparison_sum_position: 30 },
    { sum_position: 90, comparison_sum_position: 0 },
  ]);
  t.match(await exact(`${first}&compare=2026-02-27..${SECOND}`), [
    { clicks: 4, sum_position: 30, comparison_position: null, comparison_sum_position: null },
    { clicks: 3, sum_position: 80, comparison_sum_position: 300 },
  ]);
});

t.test('what Bing does not tell is refused', async (t) => {
  for (const [path, name] of [
    ['/site?engine=bing&country=usa', 'country'],
    ['/site?engine=bing&device=mobile', 'device'],
    ['/site?engine=bing&type=image', 'type'],
    ['/site?engine=yahoo', 'engine'],
    ['/pages?engine=bing&country=usa', 'country'],
    ['/pages?engine=bing&quality=1', 'quality'],
    ['/queries?engine=bing&type=image', 'type'],
    ['/queries?engine=bing&from=2026-02-27&to=2026-03-04', 'from and to'],
    [`/pages?engine=bing&from=2026-02-20&to=${FIRST}&compare=2026-01-01..2026-01-05`, 'compare'],
    ['/breakdowns?engine=bing', 'engine'],
    ['/explain?engine=bing', 'engine'],
  ] as const)
    refusedFor(t, await world.ask(path), name);
});

t.test('agents get the same rows, and what Bing does not tell is refused', async (t) => {
  const address = new URL('/mcp', await world.app.listen({ port: 0 }));
  const client = await connectAgent(t, address, { authorization: `Bearer ${world.key}` });
  const asked = { project: 'Proj1', engine: 'bing', from: '2026-02-27', to: SECOND };
  const { body } = await callTool(client, 'top_rows', { ...asked, kind: 'pages', limit: 2 });
  const { range, source, pages } = await ask(`/pages?engine=bing&from=2026-02-27&to=${SECOND}&limit=2`);
  t.match(body, { range, source, pages, total: 3, returned: 2 });
  t.match((await callTool(client, 'site_performance', asked)).body, { totals: { clicks: 21, position: null } });
  for (const wrong of [{ kind: 'keywords' }, { country: 'usa' }, { type: 'image' }]) {
    t.match(await callTool(client, 'top_rows', { ...asked, ...wrong }), { isError: true }, JSON.stringify(wrong));
    t.match(await callTool(client, 'changes', { ...asked, ...wrong }), { isError: true }, JSON.stringify(wrong));
  }
  const { body: changes } = await callTool(client, 'changes', { ...asked, kind: 'pages' });
  t.match(changes, {
    range: { engine: 'bing', from: '2026-02-27', to: SECOND, comparison: { from: '2026-02-20', to: FIRST } },
    site: { clicks: 21, position: null, comparison: { clicks: 7 } },
    events: { length: 0 },
    gained: [
      { url: 'https://acme.example/a', change_clicks: 11 },
      { url: 'https://acme.example/b', change_clicks: 3 },
    ],
    lost: { length: 0 },
  });
  const queries = (await callTool(client, 'changes', asked)).body;
  t.match(queries, { gained: [{ query: 'acme boots' }], vanished: [{ query: 'shoes', comparison_clicks: 3 }] });
});

t.test('the portfolio: as the site of each project', async (t) => {
  const url = `/api/v1/portfolio?engine=bing&from=${SECOND}&to=${SECOND}`;
  const answer = await world.app.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  const { projects } = answer.json<{ projects: Row[] }>();
  const of = (id: string) => projects.find((one) => one['id'] === id);
  t.match(of('Proj1'), { range: { engine: 'bing' }, totals: { clicks: 3, impressions: 20, position: null } });
  t.match(of('Empty'), { error: { message: /no stored days of Bing/ } });
});

t.test('a project of one country has no numbers of Bing, which are of all countries', async (t) => {
  const german = await makeWorld(t, {
    projects: [{ ...PROJECT, country: 'deu' }],
    site_daily: facts('date device', [SECOND, 'mobile', 5, 90, 0]),
    site_daily_bing: facts('date device', [SECOND, 'unknown', 3, 20, 0]),
    page_weekly_bing: weekly(...PAGES),
  });
  const days = `from=2026-02-27&to=${SECOND}`;
  for (const path of ['site', 'pages']) {
    const refused = await german.ask(`/${path}?engine=bing&${days}`);
    refusedFor(t, refused, 'engine');
    t.match(refused.body.error.message, /only searches from deu/);
  }
  t.match((await german.ask(`/surfaces?${days}`)).body, { totals: { clicks: 5 }, surfaces: { length: 1 } });
  const { projects } = (await german.get(`/portfolio?engine=bing&${days}`)).body;
  t.match(projects, [{ error: { message: /only searches from deu/ } }]);
});

t.test('a project without rows of Bing says so', async (t) => {
  const of = (path: string) =>
    world.app.inject({ url: `/api/v1/projects/Empty${path}`, headers: { authorization: `Bearer ${world.key}` } });
  t.match((await of('/site?engine=bing')).json(), { error: { message: /no stored days of Bing/ } });
  const list = await of('/pages?engine=bing');
  t.equal(list.statusCode, 503);
  t.match(list.json(), { error: { message: /no source of pages of Bing/ } });
});
