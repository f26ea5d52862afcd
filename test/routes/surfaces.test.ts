// Search types are answered separately, and what a type lacks is null or refused, never zero.
import t from 'tap';
import { readParquet } from '../formats/read.ts';
import { facts, makeWorld, PROJECT, type Row } from '../world.ts';

const DAYS = ['2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10'] as const;

const world = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  site_daily: facts('date device', ...DAYS.map((day, index) => [day, 'mobile', 10 + index, 100, 300])),
  site_daily_image: facts('date device', ...DAYS.slice(1).map((day, index) => [day, 'mobile', 20 + index, 400, 800])),
  site_daily_discover: facts('date device', ...DAYS.map((day, index) => [day, 'unknown', 100 * index, 1000, 0])),
  // The last day that is not stale yet, and the first that is.
  site_daily_video: facts('date device', ['2026-03-01', 'mobile', 1, 10, 0]),
  site_daily_news: facts('date device', ['2026-02-28', 'mobile', 1, 10, 0]),
  site_daily_bing: facts('date device', [DAYS[2], 'unknown', 3, 70, 0], [DAYS[3], 'unknown', 4, 80, 0]),
  country_daily_discover: facts('date country', ...DAYS.map((day) => [day, 'usa', 1, 10, 0])),
});
// biome-ignore lint/suspicious/noExplicitAny: answers are compared as a whole or picked from
const ask = async (path: string): Promise<any> => (await world.ask(path)).body;
const raw = (path: string) =>
  world.app.inject({ url: `/api/v1/projects/Proj1${path}`, headers: { authorization: `Bearer ${world.key}` } });
const RANGE = `from=${DAYS[2]}&to=${DAYS[3]}`;
const COMPARED = `${RANGE}&compare=${DAYS[0]}..${DAYS[1]}`;

t.test('web is what it is without a type', async (t) => {
  t.strictSame(await ask(`/site?${COMPARED}&type=web&quality=1`), await ask(`/site?${COMPARED}&quality=1`));
  t.notOk('type' in (await ask(`/site?${RANGE}`)).range);
  const named = await raw(`/site?${RANGE}&type=web`);
  t.equal(named.headers.etag, (await raw(`/site?${RANGE}`)).headers.etag);
});

t.test('types without positions have none, in no format', async (t) => {
  const { totals, daily } = await ask(`/site?${COMPARED}&type=discover`);
  t.match(totals, { clicks: 500, impressions: 2000, ctr: 0.25, position: null });
  t.match(totals.comparison, { clicks: 100, position: null });
  t.strictSame(totals.change.position, { difference: null, ratio: null });
  t.notOk('position' in totals.unsafe);
  const { rows } = await readParquet((await raw(`/site.parquet?${COMPARED}&type=discover`)).rawPayload);
  const none = { position: null, sum_position: null, comparison_position: null, comparison_sum_position: null };
  t.match(rows, [
    { clicks: 200, comparison_clicks: 0, ...none },
    { clicks: 300, comparison_clicks: 100, ...none },
  ]);
  t.ok(daily.every(({ position }: Row) => position === null));
  const discover = await ask(`/breakdowns?${COMPARED}&type=discover`);
  t.strictSame([discover.devices, discover.appearances, discover.brand], [[], [], null]);
  t.match(discover.countries[0], { country: 'usa', clicks: 2, position: null, comparison: { position: null } });
  t.notOk('position' in discover.countries[0].unsafe);
  t.match((await raw(`/breakdowns.csv?${RANGE}&type=discover`)).payload, /^country,usa,2,20,0.1,\r\n$/m);
});

t.test('events of a type make that type unsafe, and no other', async (t) => {
  for (const [range, type, events] of [
    ['from=2026-04-01&to=2026-04-02&compare=2026-05-01..2026-05-02', 'web', ['2025-05-13']],
    ['from=2026-04-01&to=2026-04-02&compare=2026-05-01..2026-05-02', 'image', []],
    ['from=2026-05-20&to=2026-05-22&compare=previous', 'web', []],
    ['from=2026-05-20&to=2026-05-22&compare=previous', 'discover', ['2026-05-21']],
  ] as const) {
    const { quality, totals } = await ask(`/site?${range}&quality=1&type=${type}`);
    const found = quality.events.map(({ from }: Row) => from);
    t.strictSame([found, JSON.stringify(totals.unsafe).includes('provider_event')], [events, events.length > 0], type);
  }
  const over = 'from=2026-05-06&to=2026-05-08&quality=1';
  t.match((await ask(`/breakdowns?${over}`)).quality.events, [{ title: /FAQ/, from: '2026-05-07' }]);
  t.strictSame((await ask(`/breakdowns?${over}&type=image`)).quality.events, []);
});

t.test('surfaces: a row for each stored type as its site, and a total of clicks only', async (t) => {
  const { range, totals, surfaces } = await ask(`/surfaces?${COMPARED}`);
  t.strictSame(range, { from: DAYS[2], to: DAYS[3], comparison: { from: DAYS[0], to: DAYS[1] } });
  const names = ['engine', 'type', 'firstDay', 'lastDay', 'clicks', 'position', 'stale'];
  t.strictSame(
    surfaces.map((row: Row) => names.map((name) => row[name]).join(' ')),
    [
      'google web 2026-03-07 2026-03-10 25 4 false',
      'google image 2026-03-08 2026-03-10 43 3 false',
      'google video 2026-03-01 2026-03-01 0  false',
      'google news 2026-02-28 2026-02-28 0  true',
      'google discover 2026-03-07 2026-03-10 500  false',
      'bing web 2026-03-09 2026-03-10 7  false',
    ],
  );
  t.strictSame(totals, { clicks: 575 });
  for (const [at, query] of [
    'type=web',
    'type=image',
    'type=video',
    'type=news',
    'type=discover',
    'engine=bing',
  ].entries()) {
    const site = await ask(`/site?${COMPARED}&${query}`);
    const { engine: _, type: __, grain: ___, firstDay: ____, lastDay: _____, stale: ______, ...row } = surfaces[at];
    t.strictSame(row, { ...site.totals, provisionalAfter: site.range.provisionalAfter }, query);
  }
  const csv = (await raw(`/surfaces.csv?${RANGE}`)).payload.trim().split('\r\n');
  t.equal(
    csv[0],
    'engine,type,grain,firstDay,lastDay,provisionalAfter,clicks,impressions,ctr,position,aiImpressions,citations,stale',
  );
  t.match(csv.at(-2), /^google,discover,.*,500,2000,0.25,,,,false$/);
  const empty = (await world.get('/projects/Empty/surfaces')).body;
  t.strictSame([empty.totals, empty.surfaces], [{ clicks: 0 }, []]);
});

t.test('pages of AI answers: from the start of the range, each time the longest list that begins there', async (t) => {
  const row = (first: string, last: string, measure: string, count: number): Row => ({
    ...{ project_id: 'Proj1', first_day: `2026-03-${first}`, last_day: `2026-03-${last}` },
    ...{ url: `https://shop.example/${first}-${last}`, [measure]: count },
  });
  const day = (date: string, measure: string, count: number): Row => ({
    ...{ project_id: 'Proj1', date: `2026-03-${date}`, [measure]: count },
  });
  const [google, bing] = ['ai_impressions', 'citations'];
  const { ask: ai } = await makeWorld(t, {
    ai_page_period: [
      ...[row('04', '06', google, 3), row('01', '05', google, 5), row('01', '03', google, 9)],
      ...[row('06', '08', google, 4), row('07', '08', google, 1)],
    ],
    citation_page_period: [row('02', '04', bing, 7), row('02', '03', bing, 2), row('05', '05', bing, 7)],
    ai_daily: [day('04', google, 1), day('02', google, 0), day('03', google, 8)],
    citation_daily: [day('03', bing, 5), day('01', bing, 6)],
  });
  for (const [from, to, by, expected] of [
    ['01', '08', '&by=page', ['01-05 5 ', '06-08 4 ', '02-04  7', '05-05  7']],
    ['01', '07', '&by=page', ['01-05 5 ', '02-04  7', '05-05  7']],
    ['01', '04', '&by=page', ['01-03 9 ', '02-04  7']],
    ['02', '08', '&by=page', ['04-06 3 ', '07-08 1 ', '02-04  7', '05-05  7']],
    ['03', '06', '&by=page', ['04-06 3 ', '05-05  7']],
    ['02', '03', '', ['03-02 0 ', '03-03 8 5']],
  ] as const) {
    const { rows } = (await ai(`/ai?from=2026-03-${from}&to=2026-03-${to}${by}`)).body as { rows: Row[] };
    t.strictSame(
      rows.map(({ page, date, aiImpressions, citations }) =>
        [String(page ?? date).slice(-5), aiImpressions, citations].join(' '),
      ),
      expected,
      `${from} to ${to}${by}`,
    );
  }
});
