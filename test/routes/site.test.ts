// The site endpoint gives exact totals and days of a property, by device and country.
import t from 'tap';
import { facts, makeWorld, ofProject, PROJECT, refusedFor } from '../world.ts';

const SITE = facts(
  'date device',
  ['2026-03-01', 'desktop', 3, 100, 900],
  ['2026-03-01', 'mobile', 1, 60, 120],
  // nothing stored on the 2nd
  ['2026-03-03', 'mobile', 0, 7, 14],
  ['2026-03-09', 'desktop', 5, 32, 1],
);

/** A project with countries: months to February, days from March. */
const COUNTRIES = {
  site_daily: facts('date device', ['2026-01-30', 'mobile', 1, 1, 0], ['2026-03-02', 'mobile', 9, 90, 0]),
  country_monthly: facts(
    'month country',
    ['2026-01-01', 'usa', 5, 40, 0],
    ['2026-02-01', 'usa', 10, 100, 250],
    ['2026-02-01', 'other', 7, 70, 0],
  ),
  country_daily: facts(
    'date country',
    // ignored: February is stored as a month
    ['2026-02-27', 'usa', 999, 999, 999],
    ['2026-02-27', 'fra', 999, 999, 999],
    ['2026-03-01', 'usa', 2, 8, 4],
    ['2026-03-02', 'gbr', 1, 2, 3],
  ),
};

const world = await makeWorld(t, {
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Count' },
    { ...PROJECT, id: 'DaysC' },
    { ...PROJECT, id: 'Empty' },
    {
      ...PROJECT,
      id: 'Fresh',
      last_synced_at: null,
      synced_through: null,
      provisional_after: null,
    },
  ],
  site_daily: [
    ...SITE,
    ...ofProject('Count', COUNTRIES.site_daily),
    ...ofProject('DaysC', COUNTRIES.site_daily),
    ...ofProject('Fresh', SITE),
  ],
  country_monthly: ofProject('Count', COUNTRIES.country_monthly),
  country_daily: [
    ...ofProject('Count', COUNTRIES.country_daily),
    ...ofProject('DaysC', COUNTRIES.country_daily),
    ...ofProject('Empty', COUNTRIES.country_daily),
  ],
});
const { ask, get } = world;

const zeros = (date: string) => ({ date, clicks: 0, impressions: 0, ctr: null, position: null });

t.test('days from the first stored one to the last synced one, zeros where nothing is stored', async (t) => {
  const { status, body } = await ask('/site?from=2026-02-27&to=2026-03-04');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: { from: '2026-02-27', to: '2026-03-04', device: 'all', country: null, provisionalAfter: '2026-03-07' },
    totals: { clicks: 4, impressions: 167, ctr: 0.024, position: 7.2 },
    daily: [
      { date: '2026-03-01', clicks: 4, impressions: 160, ctr: 0.025, position: 7.4 },
      { date: '2026-03-02', clicks: 0, impressions: 0, ctr: null, position: null },
      { date: '2026-03-03', clicks: 0, impressions: 7, ctr: 0, position: 3 },
      { date: '2026-03-04', clicks: 0, impressions: 0, ctr: null, position: null },
    ],
  });
});

t.test('the default range is the 28 days to the last synced one; later days are left out', async (t) => {
  const byDefault = await ask('/site');
  t.match(byDefault.body.range, { from: '2026-02-11', to: '2026-03-10' });
  const future = await ask('/site?from=2026-03-09&to=2026-04-30');
  t.equal(future.body.range.to, '2026-04-30');
  t.strictSame(future.body.daily, [
    // 5 / 32 is 0.15625 and 1 / 32 + 1 is 1.03125
    { date: '2026-03-09', clicks: 5, impressions: 32, ctr: 0.1563, position: 1 },
    { date: '2026-03-10', clicks: 0, impressions: 0, ctr: null, position: null },
  ]);
});

t.test('a default end and a given start, a given end and a default start, a period', async (t) => {
  const range = async (query: string) => {
    const { from, to } = (await ask(`/site?${query}`)).body.range;
    return `${from} ${to}`;
  };
  t.equal(await range('from=2026-03-09'), '2026-03-09 2026-03-10');
  t.equal(await range('from=2026-03-10&to=2026-03-10'), '2026-03-10 2026-03-10');
  t.equal(await range('to=2026-03-05'), '2026-02-06 2026-03-05');
  t.equal(await range('period=1d'), '2026-03-10 2026-03-10');
  t.equal(await range('period=7d&to=2026-03-01'), '2026-02-23 2026-03-01');
  t.equal(await range('period=1m'), '2026-02-11 2026-03-10');
  t.equal(await range('period=1m&to=2026-03-31'), '2026-03-01 2026-03-31');
  t.equal(await range('period=486d'), '2024-11-10 2026-03-10');
  // sixteen calendar months back are 2024-11-11, 485 days
  t.equal(await range('period=16m'), '2024-11-11 2026-03-10');
  // to 2026-01-31 they would be 2024-10-01 and 488 days
  t.equal(await range('period=16m&to=2026-01-31'), '2024-10-03 2026-01-31');
  t.equal(await range('from=2024-11-10'), '2024-11-10 2026-03-10');
});

t.test('one device; the days are those of the whole property', async (t) => {
  const { body } = await ask('/site?period=10d&device=mobile');
  t.strictSame(body.totals, { clicks: 1, impressions: 67, ctr: 0.0149, position: 3 });
  t.equal(body.range.device, 'mobile');
  t.equal(body.daily.length, 10);
  const tablet = await ask('/site?from=2026-02-01&to=2026-03-02&device=tablet');
  t.strictSame(tablet.body.totals, { clicks: 0, impressions: 0, ctr: null, position: null });
  t.strictSame(tablet.body.daily, [zeros('2026-03-01'), zeros('2026-03-02')]);
  t.strictSame((await ask('/site?device=all')).body, (await ask('/site')).body);
});

t.test('a country in stored months: each day has its whole share and the position of the month', async (t) => {
  const { status, body } = await get('/projects/Count/site?country=USA&from=2026-01-29&to=2026-02-02');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Count', domain: 'shop.example' },
    range: {
      from: '2026-01-29',
      to: '2026-02-02',
      device: 'all',
      country: 'usa',
      provisionalAfter: '2026-03-07',
      countryMonthlyThrough: '2026-02-28',
    },
    // position: (3 * 1 + 7 * 3.5) / 10 is 2.75
    totals: { clicks: 1, impressions: 10, ctr: 0.1, position: 2.8 },
    daily: [
      // 5 * 30 / 31 and 5 * 29 / 31 are both 4; 40 * 30 / 31 is 38 and 40 * 29 / 31 is 37
      { date: '2026-01-30', clicks: 0, impressions: 1, ctr: 0, position: 1 },
      { date: '2026-01-31', clicks: 1, impressions: 2, ctr: 0.5, position: 1 },
      { date: '2026-02-01', clicks: 0, impressions: 3, ctr: 0, position: 3.5 },
      { date: '2026-02-02', clicks: 0, impressions: 4, ctr: 0, position: 3.5 },
    ],
  });
});

t.test('a country after the stored months: its days', async (t) => {
  const { body } = await get('/projects/Count/site?country=usa&from=2026-02-28&to=2026-03-03');
  // position: (4 * 3.5 + 8 * 1.5) / 12 is 2.1666…
  t.strictSame(body.totals, { clicks: 3, impressions: 12, ctr: 0.25, position: 2.2 });
  t.strictSame(body.daily, [
    { date: '2026-02-28', clicks: 1, impressions: 4, ctr: 0.25, position: 3.5 },
    { date: '2026-03-01', clicks: 2, impressions: 8, ctr: 0.25, position: 1.5 },
    zeros('2026-03-02'),
    zeros('2026-03-03'),
  ]);
});

t.test('the days of a month add up to the month', async (t) => {
  const { body } = await get('/projects/Count/site?country=usa&from=2026-02-01&to=2026-02-28');
  t.strictSame(body.totals, { clicks: 10, impressions: 100, ctr: 0.1, position: 3.5 });
  const days = body.daily as { clicks: number; impressions: number }[];
  t.equal(days.length, 28);
  t.equal(
    days.reduce((sum, day) => sum + day.clicks, 0),
    10,
  );
  t.equal(
    days.reduce((sum, day) => sum + day.impressions, 0),
    100,
  );
});

t.test('a country without data has the same days; days beside stored months do not count', async (t) => {
  const { body } = await get('/projects/Count/site?country=fra&from=2026-02-26&to=2026-03-01');
  t.strictSame(body.totals, { clicks: 0, impressions: 0, ctr: null, position: null });
  t.strictSame(body.daily, [zeros('2026-02-26'), zeros('2026-02-27'), zeros('2026-02-28'), zeros('2026-03-01')]);
  t.equal(body.range.countryMonthlyThrough, '2026-02-28');
});

t.test('a country of a project without stored months', async (t) => {
  const { body } = await get('/projects/DaysC/site?country=usa&from=2026-02-27&to=2026-03-01&device=all');
  t.equal(body.range.countryMonthlyThrough, null);
  t.strictSame(body.daily, [
    { date: '2026-02-27', clicks: 999, impressions: 999, ctr: 1, position: 2 },
    zeros('2026-02-28'),
    { date: '2026-03-01', clicks: 2, impressions: 8, ctr: 0.25, position: 1.5 },
  ]);
  const { range } = (await get('/projects/DaysC/site')).body;
  t.strictSame(Object.keys(range), ['from', 'to', 'device', 'country', 'provisionalAfter']);
});

t.test('a project without days of the property has none, even if its countries do', async (t) => {
  for (const query of ['', '?country=usa', '?device=mobile']) {
    const { status, body } = await get(`/projects/Empty/site${query}`);
    t.equal(status, 200);
    t.strictSame(body.daily, [], query);
    t.strictSame(body.totals, { clicks: 0, impressions: 0, ctr: null, position: null }, query);
  }
});

t.test('before the first sync the range ends yesterday and holds nothing', async (t) => {
  t.strictSame((await get('/projects/Fresh/site')).body, {
    project: { id: 'Fresh', domain: 'shop.example' },
    range: { from: '2026-02-15', to: '2026-03-14', device: 'all', country: null, provisionalAfter: null },
    totals: { clicks: 0, impressions: 0, ctr: null, position: null },
    daily: [],
  });
  const country = await get('/projects/Fresh/site?country=usa&from=2026-03-01');
  t.strictSame(country.body.daily, []);
  t.equal(country.body.range.countryMonthlyThrough, null);
});

t.test('invalid parameters', async (t) => {
  refusedFor(t, await ask('/site?from=2026-03-01&period=7d'), 'from');
  refusedFor(t, await ask('/site?from=2026-03-01&period=7d'), 'period');
  refusedFor(t, await ask('/site?from=2026-03-02&to=2026-03-01'), 'from');
  // after the last synced day, which the range ends with
  refusedFor(t, await ask('/site?from=2026-03-11'), 'from');
  refusedFor(t, await ask('/site?from=2024-11-09'), 'from', '487 days');
  refusedFor(t, await ask('/site?from=2020-01-01&to=2026-01-01'), 'from', 'years');
  for (const period of ['0d', '487d', '0m', '17m', '7', 'd', '7w', '-7d', '1.5m', '7D', ' 7d', '7d%0A']) {
    refusedFor(t, await ask(`/site?period=${period}`), 'period', period);
  }
  for (const device of ['Mobile', 'phone', '']) {
    refusedFor(t, await ask(`/site?device=${device}`), 'device', device);
  }
  for (const country of ['us', 'usaa', 'us1', 'other', '%C3%A4sa', '']) {
    refusedFor(t, await ask(`/site?country=${country}`), 'country', country);
  }
  refusedFor(t, await get('/projects/Count/site?country=usa&device=mobile'), 'country');
  refusedFor(t, await get('/projects/Count/site?country=usa&device=mobile'), 'device');
});
