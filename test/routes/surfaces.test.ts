// Search types are answered separately, and what a type lacks is null or refused, never zero.
import t from 'tap';
import { readParquet } from '../formats/read.ts';
import { facts, makeWorld, PROJECT, type Row, refusedFor } from '../world.ts';

const DAYS = ['2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10'] as const;

const world = await makeWorld(t, {
  projects: [PROJECT, { ...PROJECT, id: 'Empty' }],
  site_daily: facts(
    'date device',
    ...DAYS.map((day, index) => [day, 'mobile', 10 + index, 100, 300]),
    ...DAYS.map((day) => [day, 'desktop', 1, 10, 0]),
  ),
  site_daily_image: facts(
    'date device',
    ...DAYS.slice(1).map((day, index) => [day, 'mobile', 20 + index, 400, 400 * (index + 1)]),
    [DAYS[3], 'desktop', 5, 50, 0],
  ),
  country_daily_image: facts('date country', [DAYS[3], 'usa', 20, 400, 0], [DAYS[3], 'gbr', 7, 50, 0]),
  site_daily_discover: facts('date device', ...DAYS.map((day, index) => [day, 'unknown', 100 * index, 1000, 0])),
  site_daily_bing: facts('date device', [DAYS[2], 'unknown', 3, 70, 0], [DAYS[3], 'unknown', 4, 80, 0]),
  country_daily_discover: facts('date country', ...DAYS.map((day) => [day, 'usa', 1, 10, 0])),
});
type Name = 'range' | 'totals' | 'daily' | 'quality' | 'surfaces' | 'countries' | 'devices' | 'appearances' | 'brand';
// biome-ignore lint/suspicious/noExplicitAny: answers are compared as a whole or picked from
type Body = Readonly<Record<Name, any>>;
const ask = async (path: string): Promise<Body> => (await world.ask(path)).body as Body;
const raw = (path: string) =>
  world.app.inject({ url: `/api/v1/projects/Proj1${path}`, headers: { authorization: `Bearer ${world.key}` } });
const RANGE = `from=${DAYS[2]}&to=${DAYS[3]}`;
const COMPARED = `${RANGE}&compare=${DAYS[0]}..${DAYS[1]}`;

t.test('the site by type: totals, days, device and country', async (t) => {
  const image = await ask(`/site?${RANGE}&type=image`);
  t.match(image.range, { from: DAYS[2], type: 'image', device: 'all', country: null });
  t.strictSame(image.totals, { clicks: 48, impressions: 850, ctr: 0.0565, position: 3.4 });
  t.strictSame(
    image.daily.map(({ date, clicks, position }: Row) => [date, clicks, position]),
    [
      [DAYS[2], 21, 3],
      [DAYS[3], 27, 3.7],
    ],
  );
  t.match((await ask(`/site?${RANGE}&type=image&device=desktop`)).totals, { clicks: 5, impressions: 50 });
  t.match((await ask(`/site?from=${DAYS[3]}&to=${DAYS[3]}&type=image&country=gbr`)).totals, { clicks: 7 });
});

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
  t.match(rows, [{ clicks: 200, position: null, comparison_clicks: 0, comparison_position: null }, {}]);
  for (const row of rows) t.strictSame([row['sum_position'], row['comparison_sum_position']], [null, null]);
  t.ok(daily.every(({ position }: Row) => position === null));
  const ndjson = await raw(`/site.ndjson?${COMPARED}&type=discover`);
  for (const line of ndjson.payload.trim().split('\n')) t.equal(JSON.parse(line).position, null);
  refusedFor(t, await world.ask(`/site?${RANGE}&type=discover&device=mobile`), 'device');
  refusedFor(t, await world.ask(`/site?${RANGE}&type=shopping`), 'type');
});

t.test('events of web search do not make other types unsafe', async (t) => {
  const over = 'from=2026-04-01&to=2026-04-02&compare=2026-05-01..2026-05-02&quality=1';
  t.ok((await ask(`/site?${over}`)).quality.events.length > 0);
  const { quality, totals } = await ask(`/site?${over}&type=image`);
  t.match(quality, { events: [], anonymousClicksShare: null, reconciledAt: null });
  t.notOk(JSON.stringify(totals.unsafe).includes('provider_event'));
});

t.test('what is known of Discover makes Discover unsafe, and nothing else', async (t) => {
  const over = 'from=2026-05-20&to=2026-05-22&compare=previous&quality=1';
  const { quality, totals } = await ask(`/site?${over}&type=discover`);
  t.match(quality.events, [{ from: '2026-05-21', to: '2026-05-21', affects: ['clicks', 'impressions', 'ctr'] }]);
  t.ok(totals.unsafe.clicks.includes('provider_event'));
  const web = await ask(`/site?${over}`);
  t.strictSame(web.quality.events, []);
  t.notOk(JSON.stringify(web.totals.unsafe).includes('provider_event'));
});

t.test('breakdowns tell that an appearance ended', async (t) => {
  const over = 'from=2026-05-06&to=2026-05-08&quality=1';
  t.match((await ask(`/breakdowns?${over}`)).quality.events, [{ title: /FAQ/, from: '2026-05-07' }]);
  t.strictSame((await ask(`/breakdowns?${over}&type=image`)).quality.events, []);
});

t.test('surfaces: a row for each stored type as its site, and a total of clicks only', async (t) => {
  const { range, totals, surfaces } = await ask(`/surfaces?${COMPARED}`);
  t.strictSame(range, { from: DAYS[2], to: DAYS[3], comparison: { from: DAYS[0], to: DAYS[1] } });
  t.strictSame(
    surfaces.map(({ engine, type, grain, firstDay, lastDay }: Row) => [engine, type, grain, firstDay, lastDay]),
    [
      ['google', 'web', 'day', DAYS[0], DAYS[3]],
      ['google', 'image', 'day', DAYS[1], DAYS[3]],
      ['google', 'discover', 'day', DAYS[0], DAYS[3]],
      ['bing', 'web', 'day', DAYS[2], DAYS[3]],
    ],
  );
  t.strictSame(totals, { clicks: surfaces.reduce((sum: number, { clicks }: Row) => sum + Number(clicks), 0) });
  const bing = surfaces.at(-1);
  t.match(bing, { clicks: 7, impressions: 150, ctr: 0.0467, position: null, provisionalAfter: null });
  t.match(bing.comparison, { clicks: 0, position: null });
  t.strictSame(bing.unsafe.clicks, ['low_base', 'missing_days'], 'Bing has no days before its first');
  const types = surfaces.slice(0, -1);
  for (const {
    engine: _,
    type,
    grain: __,
    firstDay: ___,
    lastDay: ____,
    provisionalAfter,
    stale: _____,
    ...metrics
  } of types) {
    const site = await ask(`/site?${COMPARED}&type=${type}`);
    t.strictSame(metrics, site.totals, type);
    t.equal(provisionalAfter, site.range.provisionalAfter);
  }
  t.match(surfaces[1].unsafe.clicks, ['provisional', 'missing_days'], 'image has no day before its first');
  const csv = (await raw(`/surfaces.csv?${RANGE}`)).payload.trim().split('\r\n');
  t.equal(
    csv[0],
    'engine,type,grain,firstDay,lastDay,provisionalAfter,clicks,impressions,ctr,position,aiImpressions,citations,stale',
  );
  t.equal(csv.length, 5);
  t.match(csv[3], /^google,discover,.*,500,2000,0.25,,,,false$/);
  t.match(csv[4], /^bing,web,day,2026-[-0-9]+,2026-[-0-9]+,,7,150,0.0467,,,,false$/);
});

t.test('breakdowns by type: its countries and devices; what is not known of it is empty or null', async (t) => {
  const image = await ask(`/breakdowns?from=${DAYS[3]}&to=${DAYS[3]}&compare=${DAYS[2]}..${DAYS[2]}&type=image`);
  t.match(image.range, { type: 'image', availableFrom: DAYS[1], availableThrough: DAYS[3] });
  t.strictSame(
    image.countries.map(({ country, clicks, impressions }: Row) => [country, clicks, impressions]),
    [
      ['usa', 20, 400],
      ['gbr', 7, 50],
    ],
  );
  t.strictSame(
    image.devices.map(({ device, clicks, position }: Row) => [device, clicks, position]),
    [
      ['mobile', 22, 4],
      ['desktop', 5, 1],
    ],
  );
  t.strictSame([image.appearances, image.brand], [[], null]);
  const discover = await ask(`/breakdowns?${COMPARED}&type=discover`);
  t.strictSame(discover.devices, [], 'no devices');
  t.match(discover.countries[0], { country: 'usa', clicks: 2, position: null, comparison: { position: null } });
  t.notOk('position' in discover.countries[0].unsafe);
  const { payload } = await raw(`/breakdowns.csv?${RANGE}&type=discover`);
  t.match(payload, /^country,usa,2,20,0.1,\r\n$/m);
});

t.test('a project without days has no surfaces', async (t) => {
  const body = (await world.get('/projects/Empty/surfaces')).body;
  t.strictSame([body.totals, body.surfaces], [{ clicks: 0 }, []]);
});

t.test('the portfolio by type is the site of each project', async (t) => {
  for (const type of ['image', 'discover', 'video']) {
    const { projects } = (await world.get(`/portfolio?${COMPARED}&type=${type}&daily=1&quality=1`)).body;
    const { range, totals, daily, quality } = projects.find(({ id }: Row) => id === 'Proj1');
    const site = await ask(`/site?${COMPARED}&type=${type}&quality=1`);
    t.strictSame(
      { range, totals, daily, quality },
      { range: site.range, totals: site.totals, daily: site.daily, quality: site.quality },
      type,
    );
  }
  refusedFor(t, await world.get('/portfolio?type=discover&device=tablet'), 'device');
  for (const [surface, name] of [
    ['type=discover', 'type'],
    ['type=googleNews', 'type'],
    ['engine=bing', 'engine'],
  ] as const) {
    refusedFor(t, await world.get(`/portfolio?${surface}&sort=position`), name);
    refusedFor(t, await world.get(`/portfolio?${surface}&filter=position:lte:3`), name);
    t.equal((await world.get(`/portfolio?${surface}&sort=-clicks`)).status, 200);
  }
});

t.test('pages of AI answers: from the start of the range, each time the longest list that begins there', async (t) => {
  const list = (table: string, measure: string) => (first: string, last: string, count: number) => ({
    table,
    row: {
      project_id: 'Proj1',
      first_day: `2026-03-${first}`,
      last_day: `2026-03-${last}`,
      url: `https://shop.example/${first}-${last}`,
      [measure]: count,
    },
  });
  const [google, bing] = [list('ai_page_period', 'ai_impressions'), list('citation_page_period', 'citations')];
  const lists = [
    ...[
      google('04', '06', 3),
      google('01', '05', 5),
      google('01', '03', 9),
      google('06', '08', 4),
      google('07', '08', 1),
    ],
    ...[bing('02', '04', 7), bing('02', '03', 2), bing('05', '05', 7)],
  ];
  const rowsOf = (table: string) => lists.filter((one) => one.table === table).map(({ row }) => row);
  const day = (date: string, name: string, count: number) => ({
    project_id: 'Proj1',
    date: `2026-03-${date}`,
    [name]: count,
  });
  const { ask: ai } = await makeWorld(t, {
    ai_page_period: rowsOf('ai_page_period'),
    citation_page_period: rowsOf('citation_page_period'),
    ai_daily: [day('04', 'ai_impressions', 1), day('02', 'ai_impressions', 0), day('03', 'ai_impressions', 8)],
    citation_daily: [day('03', 'citations', 5), day('01', 'citations', 6)],
  });
  type AiRow = Partial<Record<'page' | 'date', string>> & Record<'aiImpressions' | 'citations', number | null>;
  const rows = async (range: string, by: string) =>
    ((await ai(`/ai?${range}${by}`)).body.rows as AiRow[]).map(({ page, date, aiImpressions, citations }) =>
      [(page ?? date)!.slice(-5), aiImpressions, citations].join(' '),
    );
  for (const [from, to, expected] of [
    ['01', '08', ['01-05 5 ', '06-08 4 ', '02-04  7', '05-05  7']],
    ['01', '07', ['01-05 5 ', '02-04  7', '05-05  7']],
    ['01', '04', ['01-03 9 ', '02-04  7']],
    ['02', '08', ['04-06 3 ', '07-08 1 ', '02-04  7', '05-05  7']],
    ['03', '06', ['04-06 3 ', '05-05  7']],
  ] as const) {
    t.strictSame(await rows(`from=2026-03-${from}&to=2026-03-${to}`, '&by=page'), expected, `${from} to ${to}`);
  }
  t.strictSame(await rows('from=2026-03-02&to=2026-03-03', ''), ['03-02 0 ', '03-03 8 5'], 'by day');
});
