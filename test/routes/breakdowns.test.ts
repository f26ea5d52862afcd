// The breakdowns endpoint gives exact totals by country, device, appearance and brand, for stored months too.
import t from 'tap';
import { facts, makeWorld, ofProject, PROJECT, refusedFor } from '../world.ts';

const BROKEN_DOWN = {
  site_daily: facts(
    'date device',
    ['2026-02-20', 'desktop', 50, 500, 0],
    ['2026-03-01', 'desktop', 3, 100, 900],
    ['2026-03-01', 'mobile', 3, 60, 120],
    ['2026-03-02', 'mobile', 0, 40, 0],
    ['2026-03-02', 'tablet', 0, 0, 0],
  ),
  country_daily: facts(
    'date country',
    // ignored: February is stored as a month, to its last day
    ['2026-02-20', 'usa', 999, 999, 0],
    ['2026-02-28', 'usa', 999, 999, 0],
    ['2026-03-01', 'usa', 2, 8, 4],
    ['2026-03-01', 'gbr', 2, 8, 0],
    ['2026-03-02', 'zwe', 2, 9, 0],
    ['2026-03-02', 'deu', 3, 3, 0],
    ['2026-03-02', 'che', 0, 0, 0],
  ),
  country_monthly: facts(
    'month country',
    ['2026-02-01', 'usa', 28, 280, 700],
    ['2026-02-01', 'other', 10, 100, 250],
    // its 20 days to the 20th are no impression: floor(1 * 20 / 28)
    ['2026-02-01', 'fra', 0, 1, 3],
  ),
  appearance_daily: facts(
    'date appearance',
    ['2026-03-01', 'VIDEO', 3, 20, 20],
    ['2026-03-01', 'PRODUCT_SNIPPETS', 2, 20, 20],
    ['2026-03-01', 'AMP', 2, 20, 0],
    ['2026-03-01', 'RICH_SNIPPET', 0, 150, 0],
    ['2026-03-01', 'FAQ', 0, 0, 0],
  ),
  brand_daily: facts('date segment', ['2026-03-01', 'brand', 2, 16, 8], ['2026-03-01', 'non_brand', 1, 100, 250]),
};

const world = await makeWorld(t, {
  ...BROKEN_DOWN,
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Empty' },
    { ...PROJECT, id: 'Fresh', last_synced_at: null, synced_through: null, provisional_after: null },
    { ...PROJECT, id: 'Parts' },
  ],
  site_daily: [
    ...BROKEN_DOWN.site_daily,
    ...ofProject('Fresh', BROKEN_DOWN.site_daily),
    ...ofProject('Parts', BROKEN_DOWN.site_daily),
  ],
  brand_daily: [
    ...BROKEN_DOWN.brand_daily,
    // more than the property has, of clicks or of impressions: the provider counts them in another way
    ...ofProject(
      'Parts',
      facts(
        'date segment',
        ['2026-03-01', 'brand', 7, 100, 0],
        ['2026-03-01', 'non_brand', 5, 10, 0],
        ['2026-02-20', 'non_brand', 2, 501, 0],
      ),
    ),
  ],
});
const { ask, get } = world;

t.test('countries, devices, appearances and the brand split of a range of days', async (t) => {
  const { status, body } = await ask('/breakdowns?from=2026-03-01&to=2026-03-02');
  t.equal(status, 200);
  t.strictSame(body, {
    project: { id: 'Proj1', domain: 'shop.example' },
    range: {
      from: '2026-03-01',
      to: '2026-03-02',
      availableFrom: '2026-02-01',
      availableThrough: '2026-03-02',
      provisionalAfter: '2026-03-07',
      countryMonthlyThrough: '2026-02-28',
    },
    countries: [
      { country: 'deu', clicks: 3, impressions: 3, ctr: 1, position: 1 },
      { country: 'zwe', clicks: 2, impressions: 9, ctr: 0.2222, position: 1 },
      // equal except for their codes
      { country: 'gbr', clicks: 2, impressions: 8, ctr: 0.25, position: 1 },
      { country: 'usa', clicks: 2, impressions: 8, ctr: 0.25, position: 1.5 },
    ],
    devices: [
      { device: 'desktop', clicks: 3, impressions: 100, ctr: 0.03, position: 10 },
      { device: 'mobile', clicks: 3, impressions: 100, ctr: 0.03, position: 2.2 },
    ],
    appearances: [
      { appearance: 'RICH_SNIPPET', clicks: 0, impressions: 150, ctr: 0, position: 1 },
      { appearance: 'VIDEO', clicks: 3, impressions: 20, ctr: 0.15, position: 2 },
      { appearance: 'AMP', clicks: 2, impressions: 20, ctr: 0.1, position: 1 },
      { appearance: 'PRODUCT_SNIPPETS', clicks: 2, impressions: 20, ctr: 0.1, position: 2 },
    ],
    brand: {
      brand: { clicks: 2, impressions: 16, ctr: 0.125, position: 1.5 },
      nonBrand: { clicks: 1, impressions: 100, ctr: 0.01, position: 3.5 },
      // the property has 6 and 200
      anonymous: { clicks: 3, impressions: 84 },
    },
  });
});

t.test('a part of a stored month is an even share of it, with one row for other countries', async (t) => {
  const { body } = await ask('/breakdowns?from=2026-02-01&to=2026-02-20');
  t.strictSame(body.countries, [
    { country: 'usa', clicks: 20, impressions: 200, ctr: 0.1, position: 3.5 },
    // floor(10 * 20 / 28) and floor(100 * 20 / 28)
    { country: 'other', clicks: 7, impressions: 71, ctr: 0.0986, position: 3.5 },
  ]);
  t.strictSame(body.brand.anonymous, { clicks: 50, impressions: 500 });
});

t.test('a stored month and days after it', async (t) => {
  const { body } = await ask('/breakdowns?from=2026-02-27&to=2026-03-01');
  t.strictSame(body.countries, [
    // position: (20 * 3.5 + 8 * 1.5) / 28 is 2.928…
    { country: 'usa', clicks: 4, impressions: 28, ctr: 0.1429, position: 2.9 },
    { country: 'gbr', clicks: 2, impressions: 8, ctr: 0.25, position: 1 },
    // 10 - floor(10 * 26 / 28) and 100 - floor(100 * 26 / 28)
    { country: 'other', clicks: 1, impressions: 8, ctr: 0.125, position: 3.5 },
    // the whole impression falls on the last day
    { country: 'fra', clicks: 0, impressions: 1, ctr: 0, position: 4 },
  ]);
  const all = await ask('/breakdowns?from=2026-02-01&to=2026-02-28');
  t.strictSame(all.body.countries, [
    { country: 'usa', clicks: 28, impressions: 280, ctr: 0.1, position: 3.5 },
    { country: 'other', clicks: 10, impressions: 100, ctr: 0.1, position: 3.5 },
    { country: 'fra', clicks: 0, impressions: 1, ctr: 0, position: 4 },
  ]);
});

t.test('a country is the same here and on site', async (t) => {
  for (const range of ['from=2026-02-21&to=2026-03-02', 'period=2d&to=2026-02-28', 'from=2026-02-25']) {
    const { countries } = (await ask(`/breakdowns?${range}`)).body;
    const { totals } = (await ask(`/site?country=usa&${range}`)).body;
    t.match(countries, [{ country: 'usa', ...totals }], range);
  }
});

t.test('anonymous is never below zero', async (t) => {
  const { body } = await get('/projects/Parts/breakdowns?from=2026-03-01&to=2026-03-02');
  t.strictSame(body.brand.anonymous, { clicks: 0, impressions: 90 });
});

t.test('impressions that are not anonymous can be more than all of them', async (t) => {
  const { body } = await get('/projects/Parts/breakdowns?from=2026-02-20&to=2026-02-20');
  t.strictSame(body.brand.anonymous, { clicks: 48, impressions: 0 });
});

t.test('breakdowns without stored tables are empty', async (t) => {
  const { body } = await get('/projects/Parts/breakdowns');
  t.strictSame(body.countries, []);
  t.strictSame(body.appearances, []);
  t.match(body.range, { availableFrom: '2026-02-20', availableThrough: '2026-03-02', countryMonthlyThrough: null });
});

t.test('the default range, and ignored parameters', async (t) => {
  const { body } = await ask('/breakdowns?device=nonsense&country=1&limit=-1');
  t.match(body.range, { from: '2026-02-11', to: '2026-03-10' });
  t.strictSame(body.devices[0], { device: 'desktop', clicks: 53, impressions: 600, ctr: 0.0883, position: 2.5 });
});

t.test('before the first collection and before the first sync', async (t) => {
  const nothing = { clicks: 0, impressions: 0, ctr: null, position: null };
  const empty = {
    countries: [],
    devices: [],
    appearances: [],
    brand: { brand: nothing, nonBrand: nothing, anonymous: { clicks: 0, impressions: 0 } },
  };
  t.strictSame((await get('/projects/Empty/breakdowns')).body, {
    project: { id: 'Empty', domain: 'shop.example' },
    range: {
      from: '2026-02-11',
      to: '2026-03-10',
      availableFrom: null,
      availableThrough: null,
      provisionalAfter: '2026-03-07',
      countryMonthlyThrough: null,
    },
    ...empty,
  });
  t.strictSame((await get('/projects/Fresh/breakdowns')).body, {
    project: { id: 'Fresh', domain: 'shop.example' },
    range: {
      from: '2026-02-15',
      to: '2026-03-14',
      availableFrom: null,
      availableThrough: null,
      provisionalAfter: null,
      countryMonthlyThrough: null,
    },
    ...empty,
  });
});

t.test('invalid parameters', async (t) => {
  refusedFor(t, await ask('/breakdowns?from=2026-03-01&period=7d'), 'period');
  refusedFor(t, await ask('/breakdowns?from=2026-03-02&to=2026-03-01'), 'from');
  refusedFor(t, await ask('/breakdowns?from=2024-11-09'), 'from');
  refusedFor(t, await ask('/breakdowns?to=2026-02-30'), 'to');
  refusedFor(t, await ask('/breakdowns?period=17m'), 'period');
});

t.test('days whose split by brand is unknown have none, in no answer', async (t) => {
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const { ask, get } = await makeWorld(t, {
    site_daily: facts('date device', ...days.map((day) => [day, 'mobile', 30, 300, 0])),
    brand_daily: facts(
      'date segment',
      ['2026-03-01', 'unknown', 20, 200, 0],
      ...days.slice(1).flatMap((day) => [
        [day, 'brand', 12, 120, 0],
        [day, 'non_brand', 15, 150, 0],
      ]),
    ),
  });
  const one = async (day: string, compare: string) => {
    const { body } = await ask(`/breakdowns?from=${day}&to=${day}&compare=${compare}..${compare}`);
    type Part = { comparison: { clicks: number }; unsafe: { clicks?: string[] } };
    const { brand, nonBrand, anonymous } = body.brand as Record<'brand' | 'nonBrand' | 'anonymous', Part>;
    return [brand.comparison.clicks, brand.unsafe.clicks, nonBrand.unsafe.clicks, anonymous.unsafe.clicks];
  };
  t.strictSame(await one('2026-03-03', '2026-03-02'), [12, undefined, undefined, ['low_base']]);
  const lacks = ['low_base', 'missing_days'];
  t.strictSame(await one('2026-03-02', '2026-03-01'), [0, lacks, lacks, lacks]);
  t.equal((await ask('/breakdowns?from=2026-03-01&to=2026-03-02')).body.brand, null, 'one of the days is enough');
  for (const [path, of] of [
    ['/projects/Proj1/site', (body: { quality: object }) => body.quality],
    ['/portfolio', (body: { projects: { quality: object }[] }) => body.projects[0]!.quality],
  ] as const) {
    for (const [from, coverage] of [
      ['2026-03-01', { clicks: null, impressions: null }],
      ['2026-03-02', { clicks: 0.9, impressions: 0.9 }],
    ] as const) {
      const { body } = await get(`${path}?from=${from}&to=2026-03-03&quality=1`);
      t.match(of(body as never), { queryCoverage: coverage }, `${path} from ${from}`);
    }
  }
  const question = (from: string) =>
    ask(`/query?q=${encodeURIComponent(JSON.stringify({ range: { from, to: '2026-03-03' }, dimensions: ['brand'] }))}`);
  t.match(await question('2026-03-01'), {
    status: 400,
    body: { error: { message: /^range: the brand of 2026-03-01 is not known/ } },
  });
  t.match((await question('2026-03-02')).body.rows, [
    { brand: 'non_brand', clicks: 30 },
    { brand: 'brand', clicks: 24 },
  ]);
});
