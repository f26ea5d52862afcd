// A comparison equals the sums of both ranges on every endpoint, and says where a ratio would mislead.
import t, { type Test } from 'tap';
import { putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { numberText, parseCsv, parseNdjson, readArrow, readParquet } from '../formats/read.ts';
import { facts, keyword, makeWorld, NOW, ofProject, PROJECT, type Row, refusedFor, type World } from '../world.ts';
import { addUp, comparedOf, eachDay, type Metric, metricsOf, type Pair, type Sum, shift } from './comparison-oracle.ts';

/** The stored days of the site: all of them, and the same weeks of the year before. */
const SPAN = { from: '2025-11-20', to: '2026-03-10' };
const YEAR_BEFORE = { from: '2025-02-01', to: '2025-04-15' };
const DAYS = [...eachDay(YEAR_BEFORE), ...eachDay(SPAN)];

/** Numbers that are the same in every run. Some rows have few clicks, or none. */
function measures(seed: number): number[] {
  const impressions = (seed * 7919) % 211;
  const clicks = (seed * 104_729) % (Math.floor(impressions / 3) + 1);
  return [clicks, impressions, (impressions * ((seed * 31) % 173)) % 10_007];
}

const DEVICES = ['desktop', 'mobile', 'tablet'];
const QUERIES = ['acme boots', 'red shoes', 'blue shoes', 'new shoes', 'gone'];
const site_daily = facts(
  'date device',
  ...DAYS.flatMap((day, index) => DEVICES.map((device, at) => [day, device, ...measures(index * 5 + at + 1)])),
);
const keyword_daily = facts(
  'keyword_id date device',
  ...QUERIES.slice(0, 4).flatMap((_, number) =>
    DAYS.filter((day) => number !== 3 || day >= '2026-03-01').flatMap((day, index) =>
      DEVICES.filter((_device, at) => (number + index + at) % 3 !== 0).map((device, at) => [
        `Kw00${number}`,
        day,
        device,
        ...measures(number * 997 + index * 5 + at + 1),
      ]),
    ),
  ),
);
/** What the lists have on a day: the last query only in the past, the one before only of late. */
const listed = (name: (index: number) => string) =>
  DAYS.flatMap((day, index) =>
    QUERIES.flatMap((_, number) =>
      (number === 3 && day < '2026-03-01') || (number === 4 && day >= '2026-02-08')
        ? []
        : [[day, name(number), 'gbr', ...measures(number * 31 + index + 2)]],
    ),
  );
const TABLES: Readonly<Record<string, Row[]>> = {
  keywords: QUERIES.map((query, index) => keyword(`Kw00${index}`, query)),
  projects: [
    { ...PROJECT, created_at: '2025-01-01T00:00:00Z' },
    { ...PROJECT, id: 'Holes' },
    { ...PROJECT, id: 'Fresh', synced_through: null },
  ],
  site_daily: [
    ...site_daily,
    ...ofProject(
      'Holes',
      site_daily.filter(({ date }) => date !== '2026-02-05'),
    ),
  ],
  keyword_daily,
  country_daily: facts(
    'date country',
    ...eachDay({ from: '2026-02-01', to: SPAN.to }).flatMap((day, index) =>
      ['gbr', 'irl', 'usa'].map((name, at) => [day, name, ...measures(index * 3 + at + 1)]),
    ),
  ),
  country_monthly: facts(
    'month country',
    ['2025-12-01', 'gbr', 800, 21_001, 150_001],
    ['2026-01-01', 'gbr', 900, 28_001, 196_001],
    ['2026-01-01', 'usa', 500, 9001, 10_001],
    ['2026-01-01', 'other', 20, 700, 9100],
  ),
  appearance_daily: facts(
    'date appearance',
    ...DAYS.map((day, index) => [day, index % 2 === 0 ? 'VIDEO' : 'PRODUCT_SNIPPETS', ...measures(index + 7)]),
  ),
  brand_daily: facts(
    'date segment',
    ...DAYS.flatMap((day, index) =>
      ['brand', 'non_brand'].map((segment, at) => [day, segment, ...measures(index * 2 + at + 3).map((it) => it >> 1)]),
    ),
  ),
  page_daily: facts('date url country', ...listed((index) => `https://shop.example/${index}`)),
  query_daily: facts('date query country', ...listed((index) => QUERIES[index]!)),
};

// Each request is a second after the one before, so that no limit is reached.
let time = NOW;
const world = await makeWorld(t, TABLES, { now: () => time });
const ask: World['ask'] = (path) => {
  time += 1000;
  return world.ask(path);
};

type Unsafe = Readonly<Partial<Record<Metric, readonly string[]>>>;
type Part = Row & {
  comparison: Record<Metric, number>;
  unsafe: Unsafe;
  change: Record<Metric, { difference: number | null; ratio: number | null }>;
};
interface SiteBody {
  totals: Part;
  daily: Part[];
}

interface Ranges {
  readonly now: { readonly from: string; readonly to: string };
  readonly base: { readonly from: string; readonly to: string };
}

/** Parameters of a comparison, and the ranges that they mean. All of these days are final and stored. */
const SAFE: readonly (readonly [string, Ranges])[] = [
  [
    'to=2026-03-07&compare=previous',
    { now: { from: '2026-02-08', to: '2026-03-07' }, base: { from: '2026-01-11', to: '2026-02-07' } },
  ],
  [
    'from=2026-03-01&to=2026-03-05&compare=2026-01-01..2026-01-31',
    { now: { from: '2026-03-01', to: '2026-03-05' }, base: { from: '2026-01-01', to: '2026-01-31' } },
  ],
  [
    'to=2026-03-07&period=1m&compare=2026-02-01..2026-02-28',
    { now: { from: '2026-02-08', to: '2026-03-07' }, base: { from: '2026-02-01', to: '2026-02-28' } },
  ],
];
const YEAR: readonly [string, Ranges] = [
  'to=2026-03-07&compare=year',
  { now: { from: '2026-02-08', to: '2026-03-07' }, base: { from: '2025-02-09', to: '2025-03-08' } },
];
/** A comparison over the first edge of the over-counted impressions. */
const overEvent: Pair['reasons'] = (metric) => (metric === 'clicks' ? [] : ['provider_event']);

const isIn =
  ({ from, to }: Ranges['now']) =>
  (row: Row) =>
    String(row['date']) >= from && String(row['date']) <= to;

/** Counts of ranges of unequal length are not compared, averages are. */
const ofLength =
  ({ now, base }: Ranges): NonNullable<Pair['reasons']> =>
  (metric) =>
    eachDay(now).length === eachDay(base).length || metric === 'ctr' || metric === 'position'
      ? []
      : ['different_length'];

/** Sums of the rows of a table in both ranges. */
function pairOf(rows: readonly Row[], ranges: Ranges, reasons: Pair['reasons'] = ofLength(ranges)): Pair {
  return { now: addUp(rows.filter(isIn(ranges.now))), base: addUp(rows.filter(isIn(ranges.base))), reasons };
}

/** The metrics and what stands beside them, of an object that has more. */
function checkCompared(t: Test, found: Row, pair: Pair, name: string): void {
  const { clicks, impressions, ctr, position, comparison, change, unsafe } = found;
  t.strictSame({ clicks, impressions, ctr, position }, metricsOf(pair.now), name);
  t.strictSame({ comparison, change, unsafe }, comparedOf(pair), name);
}

t.test('site: totals and each day beside the same day of the other range', async (t) => {
  for (const device of ['all', 'mobile']) {
    const rows = site_daily.filter((row) => device === 'all' || row['device'] === device);
    for (const [query, ranges] of SAFE) {
      const { status, body } = await ask(`/site?${query}&device=${device}`);
      t.equal(status, 200, query);
      t.strictSame(body.range.comparison, ranges.base);
      checkCompared(t, body.totals, pairOf(rows, ranges), query);
      t.equal(body.daily.length, eachDay(ranges.now).length);
      const others = eachDay(ranges.base);
      for (const [index, day] of (body.daily as Row[]).entries()) {
        const date = String(day['date']);
        const other = others[index];
        const days = {
          now: { from: date, to: date },
          base: { from: other ?? '9999-01-01', to: other ?? '9999-01-01' },
        };
        checkCompared(
          t,
          day,
          pairOf(rows, days, () => (other === undefined ? ['missing_days'] : [])),
          date,
        );
      }
    }
  }
});

t.test('keywords: totals, with and without a device, a filter and days', async (t) => {
  for (const [query, ranges] of SAFE) {
    for (const [more, device] of [
      ['', 'all'],
      ['&device=mobile', 'mobile'],
      ['&daily=1', 'all'],
      ['&filter=query:contains:shoes&sort=-query', 'all'],
    ] as const) {
      const { status, body } = await ask(`/keywords?${query}${more}`);
      t.equal(status, 200, query);
      t.strictSame(body.range.comparison, { ...ranges.base, clamped: false });
      t.equal(body.keywords.length, more.startsWith('&filter') ? 3 : 5);
      for (const { id, metrics, comparison, change, unsafe, daily } of body.keywords) {
        const rows = keyword_daily.filter(
          (row) => row['keyword_id'] === id && (device === 'all' || row['device'] === device),
        );
        checkCompared(t, { ...metrics, comparison, change, unsafe }, pairOf(rows, ranges), `${id} ${query}${more}`);
        if (daily !== undefined) checkDays(t, daily, rows, ranges);
      }
    }
  }
});

t.test('keywords: answers with days are the same one after the other, side by side and after others', async (t) => {
  const queries = [...SAFE, YEAR].flatMap(([query]) =>
    ['', '&interval=week', '&device=tablet'].map((more) => `/keywords?${query}&daily=1${more}`),
  );
  const alone: unknown[] = [];
  for (const query of queries) alone.push((await ask(query)).body);
  const together = await Promise.all(queries.toReversed().map((query) => ask(query)));
  t.strictSame(
    together.toReversed().map(({ body }): unknown => body),
    alone,
  );
});

/** Days of a keyword: those with rows, each beside the day in the same place of the other range. */
function checkDays(t: Test, daily: Row[], rows: readonly Row[], { now, base }: Ranges): void {
  const stored = new Set(rows.filter(isIn(now)).map(({ date }) => date));
  const others = eachDay(base);
  const expected = eachDay(now).flatMap((date, index) => {
    if (!stored.has(date)) return [];
    const sums = (day: string | undefined): Sum => addUp(rows.filter((row) => row['date'] === day));
    const reasons = others[index] === undefined ? ['missing_days'] : [];
    const pair = { now: sums(date), base: sums(others[index]), reasons: () => reasons };
    return [{ date, ...metricsOf(pair.now), ...comparedOf(pair) }];
  });
  t.strictSame(daily, expected);
}

t.test('breakdowns: every row beside the one of the same name, others are not listed', async (t) => {
  for (const [query, ranges] of [...SAFE, YEAR]) {
    const { body } = await ask(`/breakdowns?${query}`);
    t.strictSame(body.range.comparison, ranges.base);
    const reasons = ranges === YEAR[1] ? overEvent : undefined;
    for (const row of body.devices) {
      const rows = site_daily.filter(({ device }) => device === row.device);
      // Long result pages were on desktop only; the over-count was everywhere.
      checkCompared(t, row, pairOf(rows, ranges, reasons), `${row.device} ${query}`);
    }
    for (const row of body.appearances) {
      const rows = TABLES['appearance_daily']!.filter(({ appearance }) => appearance === row.appearance);
      checkCompared(t, row, pairOf(rows, ranges, reasons), `${row.appearance} ${query}`);
    }
    const ofSegment = (name: string) =>
      pairOf(
        TABLES['brand_daily']!.filter(({ segment }) => segment === name),
        ranges,
        reasons,
      );
    const [brand, nonBrand, site] = [ofSegment('brand'), ofSegment('non_brand'), pairOf(site_daily, ranges, reasons)];
    checkCompared(t, body.brand.brand, brand, `brand ${query}`);
    checkCompared(t, body.brand.nonBrand, nonBrand, `nonBrand ${query}`);
    const rest = (of: 'now' | 'base'): Sum => ({
      clicks: site[of].clicks - brand[of].clicks - nonBrand[of].clicks,
      impressions: site[of].impressions - brand[of].impressions - nonBrand[of].impressions,
      sum: [0n, 1n],
    });
    const pair = { now: rest('now'), base: rest('base'), reasons: reasons ?? ofLength(ranges) };
    const { comparison, change, unsafe } = comparedOf(pair);
    const counts = <T>({ clicks, impressions }: { clicks?: T; impressions?: T }) => ({
      ...(clicks === undefined ? {} : { clicks }),
      ...(impressions === undefined ? {} : { impressions }),
    });
    t.strictSame(body.brand.anonymous, {
      ...counts(metricsOf(pair.now)),
      comparison: counts(comparison),
      change: counts(change),
      unsafe: counts(unsafe),
    });
  }
});

t.test('pages and queries: rows of the list, also on later pages, filtered and sorted', async (t) => {
  for (const [kind, name] of [
    ['queries', 'query'],
    ['pages', 'url'],
  ] as const) {
    const table = TABLES[kind === 'queries' ? 'query_daily' : 'page_daily']!;
    for (const [query, ranges] of SAFE) {
      for (const more of ['', '&limit=2&offset=2', `&filter=clicks:gt:0&sort=-${name}`]) {
        const { status, body } = await ask(`/${kind}?${query}${more}`);
        t.equal(status, 200, query);
        t.strictSame(body.range.comparison, ranges.base);
        t.match(body.source.comparison, { kind: 'bigquery', truncated: false });
        t.equal(body.paging.total, 4, 'what only the other range has is not listed');
        for (const row of body[kind]) {
          const rows = table.filter((each) => each[name] === row[name]);
          checkCompared(t, row, pairOf(rows, ranges), `${row[name]} ${query}${more}`);
        }
      }
    }
    const [isNew] = (
      await ask(`/${kind}?from=2026-03-01&to=2026-03-07&compare=previous&filter=${name}:matches:new|/3$`)
    ).body[kind];
    t.match(isNew, {
      comparison: { clicks: 0, impressions: 0, ctr: null, position: null },
      change: { ctr: { difference: null } },
    });
    t.strictSame(isNew.unsafe.clicks, ['low_base']);
  }
});

t.test(
  'a year before is the same weekdays; events of the provider make ratios unsafe, but not of clicks',
  async (t) => {
    const [query, ranges] = YEAR;
    const { body } = await ask(`/site?${query}`);
    t.strictSame(body.range.comparison, ranges.base);
    t.equal(new Date(ranges.now.from).getUTCDay(), new Date(ranges.base.from).getUTCDay());
    checkCompared(t, body.totals, pairOf(site_daily, ranges, overEvent), query);
    checkCompared(
      t,
      body.daily[0],
      pairOf(
        site_daily,
        { now: { from: '2026-02-08', to: '2026-02-08' }, base: { from: '2025-02-09', to: '2025-02-09' } },
        overEvent,
      ),
      'each day too',
    );
    // Within the span, on both sides of the removal of long result pages, which were on desktop only.
    const autumn = async (device: string): Promise<Unsafe> =>
      (await ask(`/site?from=2025-11-20&to=2025-11-30&compare=2025-08-01..2025-08-11&device=${device}`)).body.totals
        .unsafe as Unsafe;
    t.ok((await autumn('desktop')).impressions?.includes('provider_event'));
    t.ok((await autumn('all')).position?.includes('provider_event'));
    t.notOk((await autumn('mobile')).impressions?.includes('provider_event'));
  },
);

t.test('why a ratio would mislead: provisional and missing days', async (t) => {
  const site = async (query: string, project = 'Proj1'): Promise<SiteBody> =>
    (await world.get(`/projects/${project}/site?${query}`)).body as SiteBody;
  const reasons = async (query: string, project?: string): Promise<readonly string[]> =>
    (await site(query, project)).totals.unsafe.impressions ?? [];
  t.strictSame(await reasons('period=7d&to=2026-03-07&compare=previous'), []);
  t.strictSame(await reasons('period=7d&to=2026-03-08&compare=previous'), ['provisional']);
  t.strictSame(await reasons('from=2026-03-01&to=2026-03-02&compare=2026-03-07..2026-03-08'), ['provisional']);
  t.strictSame(
    await reasons('period=7d&to=2026-03-12&compare=previous'),
    ['provisional', 'missing_days'],
    'not synced',
  );
  t.strictSame(
    await reasons('from=2025-11-20&to=2025-11-26&compare=previous'),
    ['low_base', 'missing_days'],
    'nothing stored',
  );
  t.strictSame(
    await reasons('from=2025-02-01&to=2025-02-07&compare=previous'),
    ['low_base', 'missing_days'],
    'before all data',
  );
  t.strictSame(await reasons('from=2026-02-01&to=2026-02-07&compare=previous', 'Holes'), ['missing_days'], 'a hole');
  t.strictSame(await reasons('from=2026-02-10&to=2026-02-16&compare=previous', 'Holes'), ['missing_days']);
  t.strictSame(await reasons('from=2026-02-13&to=2026-02-19&compare=previous', 'Holes'), []);
  t.strictSame(
    await reasons('period=7d&compare=previous', 'Fresh'),
    ['low_base', 'missing_days'],
    'before the first sync',
  );
  const { totals, daily } = await site('from=2026-02-01&to=2026-02-07&compare=previous', 'Holes');
  t.type(totals.change.impressions.difference, 'number', 'the difference stays');
  t.strictSame(
    daily.map(({ unsafe }) => unsafe.impressions?.includes('missing_days') ?? false),
    [false, false, false, false, true, false, false],
    'only the day itself',
  );
  // Other tables: the days that any of them or the site has.
  const { body } = await ask('/keywords?to=2026-03-09&period=3d&compare=previous');
  for (const { unsafe } of body.keywords) t.ok(unsafe.clicks.includes('provisional'));
});

t.test('keywords that began later than the site lack days', async (t) => {
  const rows = keyword_daily.filter(({ date }) => String(date) >= '2026-02-10');
  const late = await makeWorld(t, { ...TABLES, keyword_daily: rows });
  const unsafe = async (path: string): Promise<readonly string[]> =>
    ((await late.ask(path)).body.keywords[0].unsafe as Unsafe).impressions ?? [];
  t.strictSame(await unsafe('/keywords?period=7d&to=2026-03-07&compare=previous'), []);
  t.strictSame(await unsafe('/keywords?period=14d&to=2026-02-28&compare=previous'), ['missing_days']);
});

t.test('a keyword that is tracked since recently lacks days that others have', async (t) => {
  const synced = await makeWorld(t, TABLES);
  const { keywords } = (await synced.ask('/keywords')).body as { keywords: { id: string; query: string }[] };
  const [young, ...others] = keywords;
  const fetched = (from: string, to: string) => (one: { id: string; query: string }) => ({ ...one, from, to });
  const path = '/keywords?period=7d&to=2026-03-07';
  const lacking = async (compare: string): Promise<string[]> => {
    const { body } = await synced.ask(`${path}&compare=${compare}`);
    const rows = body.keywords as { id: string; unsafe: Unsafe }[];
    return rows.filter(({ unsafe }) => unsafe.ctr?.includes('missing_days')).map(({ id }) => id);
  };
  t.strictSame(await lacking('previous'), [], 'loaded keywords have what was loaded');
  await putSyncKeywords(synced.catalog, 'Proj1', [
    ...others.map(fetched('2026-01-01', '2026-03-10')),
    fetched('2026-02-26', '2026-03-10')(young!),
  ]);
  t.strictSame(await lacking('2026-02-20..2026-02-26'), [young!.id], 'its base is a part of the days');
  t.strictSame(await lacking('2026-02-26..2026-03-01'), [], 'its base is whole');
  const csv = await synced.app.inject({
    url: `/api/v1/projects/Proj1${path}&compare=2026-02-19..2026-02-25&format=ndjson`,
    headers: { authorization: `Bearer ${synced.key}` },
  });
  const rows = csv.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; unsafe_ctr: string[] });
  t.strictSame(
    rows.filter(({ unsafe_ctr }) => unsafe_ctr.includes('missing_days')).map(({ id }) => id),
    [young!.id],
    'in every format',
  );
});

t.test('months of countries: unsafe where they are spread, and for countries that a month does not name', async (t) => {
  const site = async (query: string): Promise<SiteBody> => (await ask(`/site?${query}`)).body as SiteBody;
  const whole = await site('country=gbr&from=2026-02-01&to=2026-02-28&compare=2026-01-01..2026-01-31');
  const longer = { clicks: ['different_length'], impressions: ['different_length'] };
  t.strictSame(whole.totals.unsafe, longer, 'a whole month is not spread');
  t.strictSame(whole.totals.change.clicks.ratio, null);
  t.type(whole.totals.change.ctr.ratio, 'number');
  t.ok(whole.daily.every(({ unsafe }) => unsafe.clicks?.includes('monthly_spread')));
  t.strictSame(whole.daily[30]?.unsafe, undefined);
  const part = await site('country=gbr&from=2026-02-01&to=2026-02-07&compare=previous');
  t.strictSame(part.totals.unsafe.position, ['monthly_spread']);
  const missing = await site('country=irl&from=2026-02-01&to=2026-02-28&compare=2026-01-01..2026-01-31');
  const others = ['low_base', 'different_length', 'monthly_spread'];
  t.strictSame(missing.totals.unsafe.clicks, others, 'among the others');
  const months = await site('country=gbr&from=2026-01-01&to=2026-01-31&compare=2025-12-01..2025-12-31&interval=month');
  const sums = (clicks: number, impressions: number, sum: number): Sum => ({
    clicks: BigInt(clicks),
    impressions: BigInt(impressions),
    sum: [BigInt(sum), 1n],
  });
  const pair = { now: sums(900, 28_001, 196_001), base: sums(800, 21_001, 150_001) };
  checkCompared(t, months.totals, pair, 'totals');
  checkCompared(t, months.daily[0]!, pair, 'the month');
  // Ten days of January: floor(10/31) of the counts, at the month's average position.
  const ten = await site('country=gbr&from=2026-02-01&to=2026-02-10&compare=2026-01-01..2026-01-10');
  const share = (total: number) => BigInt(Math.floor((total * 10) / 31));
  const january: Sum = { clicks: share(900), impressions: share(28_001), sum: [196_001n * share(28_001), 28_001n] };
  const february = TABLES['country_daily']!.filter(({ country }) => country === 'gbr').filter(
    isIn({ from: '2026-02-01', to: '2026-02-10' }),
  );
  checkCompared(
    t,
    ten.totals,
    { now: addUp(february), base: january, reasons: () => ['monthly_spread'] },
    'a part of a month',
  );

  const { countries } = (await ask('/breakdowns?from=2026-02-01&to=2026-02-28&compare=2026-01-01..2026-01-31')).body;
  const unsafe = Object.fromEntries((countries as Row[]).map((row) => [row['country'], row['unsafe']]));
  t.strictSame([unsafe.gbr, unsafe.usa], [longer, longer]);
  t.match(unsafe.irl, { clicks: ['low_base', 'different_length', 'monthly_spread'] });
  const back = (await ask('/breakdowns?from=2026-01-01&to=2026-01-31&compare=2026-02-01..2026-02-28')).body.countries;
  t.match(back.find((row: Row) => row['country'] === 'other').unsafe, {
    clicks: ['low_base', 'different_length', 'monthly_spread'],
  });
});

const labelOf = ({ now }: Ranges) => ({ date: now.from, days: eachDay(now).length });
const daysOf = ({ days }: Row) => days;

const send = async (path: string) => {
  const headers = { authorization: `Bearer ${world.key}` };
  return world.app.inject({ url: `/api/v1${path}`, headers });
};

t.test('ranges of unequal length say so, in every answer', async (t) => {
  const query = 'from=2026-03-01&to=2026-03-05&compare=2026-02-19..2026-02-28';
  const longer = { clicks: ['different_length'], impressions: ['different_length'] };
  const known = (rows: Part[]) => rows.find(({ comparison }) => comparison.clicks >= 10)!;
  const { keywords } = (await ask(`/keywords?${query}`)).body;
  const { devices } = (await ask(`/breakdowns?${query}`)).body;
  const { pages } = (await ask(`/pages?${query}`)).body;
  const { queries } = (await ask(`/queries?${query}`)).body;
  const { projects } = (await world.get(`/portfolio?${query}`)).body;
  const ofProject = projects.find(({ id }: { id: string }) => id === 'Proj1').totals as Part;
  const { totals } = (await ask(`/site?${query}`)).body;
  const all = { site: totals, portfolio: ofProject, keyword: known(keywords), device: known(devices) };
  for (const [name, row] of Object.entries({ ...all, page: known(pages), query: known(queries) })) {
    t.strictSame(row.unsafe, longer, name);
    t.equal(row.change.clicks.ratio, null, name);
    t.type(row.change.position.ratio, 'number', name);
  }
});

t.test('to=final ends a range with the last final day, so that its changes have ratios', async (t) => {
  for (const path of ['/site', '/keywords', '/breakdowns', '/pages', '/queries']) {
    const { range } = (await ask(`${path}?to=final&period=7d`)).body;
    t.match(range, { from: '2026-03-01', to: '2026-03-07' }, path);
  }
  const ratio = async (query: string): Promise<Part['change']> =>
    ((await ask(`/site?period=28d&compare=previous${query}`)).body as SiteBody).totals.change;
  t.equal((await ratio('')).clicks.ratio, null);
  t.type((await ratio('&to=final')).clicks.ratio, 'number');
  const { projects } = (await world.get('/portfolio?to=final&period=7d')).body;
  for (const { range, syncedThrough } of projects) {
    const last = range.provisionalAfter ?? syncedThrough ?? '2026-03-10';
    t.equal(range.to, last, 'of each project');
  }
  refusedFor(t, await ask('/site?to=last'), 'to');
});

t.test('weeks and months: labelled by their first day in the range, compared with as many days', async (t) => {
  const ranges = { now: { from: '2026-01-14', to: '2026-03-07' }, base: { from: '2025-11-22', to: '2026-01-13' } };
  const labels: Readonly<Record<string, readonly string[]>> = {
    week: [
      '2026-01-14',
      '2026-01-19',
      '2026-01-26',
      '2026-02-02',
      '2026-02-09',
      '2026-02-16',
      '2026-02-23',
      '2026-03-02',
    ],
    month: ['2026-01-14', '2026-02-01', '2026-03-01'],
  };
  for (const [interval, starts] of Object.entries(labels)) {
    const parts = starts.map((from, index) => {
      const to = starts[index + 1] === undefined ? ranges.now.to : shift(starts[index + 1]!, -1);
      const back = (Date.parse(ranges.now.from) - Date.parse(ranges.base.from)) / 86_400_000;
      return { now: { from, to }, base: { from: shift(from, -back), to: shift(to, -back) } };
    });
    const query = `from=${ranges.now.from}&to=${ranges.now.to}&interval=${interval}`;
    const site = (await ask(`/site?${query}&compare=previous`)).body;
    t.strictSame(
      site.daily.map(({ date }: { date: string }) => date),
      starts,
    );
    for (const [index, part] of parts.entries())
      checkCompared(t, site.daily[index], pairOf(site_daily, part), starts[index]!);
    checkCompared(t, site.totals, pairOf(site_daily, ranges), 'totals');
    const plain = (await ask(`/site?${query}`)).body;
    t.strictSame(
      plain.daily,
      parts.map((part) => ({ ...labelOf(part), ...metricsOf(pairOf(site_daily, part).now) })),
    );
    t.strictSame(plain.totals, metricsOf(addUp(site_daily.filter(isIn(ranges.now)))));

    const { keywords } = (await ask(`/keywords?${query}&daily=1&compare=previous`)).body;
    const without = (await ask(`/keywords?${query}&daily=1`)).body.keywords;
    for (const [at, { id, daily }] of keywords.entries()) {
      const rows = keyword_daily.filter((row) => row['keyword_id'] === id);
      const stored = parts.filter((part) => rows.some(isIn(part.now)));
      t.strictSame(
        daily.map(({ date }: { date: string }) => date),
        stored.map(({ now }) => now.from),
        id,
      );
      for (const [index, part] of stored.entries())
        checkCompared(t, daily[index], pairOf(rows, part), `${id} ${part.now.from}`);
      t.strictSame(
        without[at].daily,
        stored.map((part) => ({ ...labelOf(part), ...metricsOf(pairOf(rows, part).now) })),
      );
    }
  }
  const month = 'from=2026-02-01&to=2026-03-31&interval=month';
  const days = [28, 10];
  t.strictSame((await ask(`/site?${month}`)).body.daily.map(daysOf), days, 'days up to the last synced one');
  const [keyword] = (await ask(`/keywords?${month}&daily=1`)).body.keywords;
  t.strictSame(keyword.daily.map(daysOf), days);
  const { projects } = (await world.get(`/portfolio?${month}&daily=1`)).body;
  const found = projects.find(({ id }: { id: string }) => id === 'Proj1');
  t.strictSame(found.daily.map(daysOf), days);
  for (const path of ['/projects/Proj1/site', '/projects/Proj1/keywords', '/portfolio']) {
    const rows = parseNdjson((await send(`${path}.ndjson?${month}&daily=1`)).body);
    t.strictSame(rows.slice(0, 2).map(daysOf), days, path);
  }
  const day = await ask('/site?period=7d&interval=day');
  t.strictSame(day.body, (await ask('/site?period=7d')).body);
  const open = (await ask('/site?from=2026-03-02&to=2026-03-31&interval=week')).body.daily;
  t.strictSame(
    open.map(({ date }: { date: string }) => date),
    ['2026-03-02', '2026-03-09'],
    'weeks without a synced day are left out',
  );
  const early = (await ask('/site?from=2025-11-17&to=2025-11-30&interval=week')).body.daily;
  t.strictSame(
    early.map(({ date }: { date: string }) => date),
    ['2025-11-17', '2025-11-24'],
    'the label is a day of the range',
  );
  const csv = await world.app.inject({
    url: `/api/v1/projects/Proj1/keywords.csv?period=1m&daily=1&interval=month`,
    headers: { authorization: `Bearer ${world.key}` },
  });
  t.strictSame(parseCsv(csv.body)[1]?.slice(0, 3), ['Kw000', 'acme boots', '2026-02-11']);
  // The last days that can be named.
  for (const interval of ['day', 'week', 'month']) {
    const last = `to=9999-12-31&period=40d&compare=9999-12-01..9999-12-31&interval=${interval}`;
    t.strictSame((await ask(`/site?${last}`)).body.daily, [], interval);
    t.equal((await ask(`/keywords?${last}&daily=1`)).status, 200, interval);
  }
  refusedFor(t, await ask('/keywords?interval=week'), 'interval');
  refusedFor(t, await ask('/site?interval=year'), 'interval');
});

t.test('every format has the same comparison', async (t) => {
  const ofProject = (path: string) => send(`/projects/Proj1${path}`);
  const query = SAFE[0]![0];
  for (const [path, rowsOf] of FLAT) {
    const asked = `${path}?${query}${path === '/keywords' ? '' : ''}`;
    const expected = rowsOf((await ask(asked)).body);
    const inFormat = (format: string) => asked.replace(/^(\/\w+)/, `$1.${format}`);
    const lines = parseNdjson((await ofProject(inFormat('ndjson'))).body);
    t.strictSame(
      lines,
      expected.map((row) => likeFirst(flat(row), lines[0]!)),
      path,
    );
    const [names = [], ...fields] = parseCsv((await ofProject(inFormat('csv'))).body);
    t.strictSame(names, Object.keys(lines[0]!));
    t.strictSame(names.slice(names.indexOf('comparison_clicks')), COLUMNS);
    t.strictSame(
      fields[0],
      Object.entries(lines[0]!).map(([name, value]) => cellText(name, value)),
    );
    const arrow = readArrow((await ofProject(inFormat('arrow'))).rawPayload);
    const sums = /^(comparison_)?sum_position$/;
    const withoutSums = (row: Row) => Object.fromEntries(Object.entries(row).filter(([name]) => !sums.test(name)));
    t.strictSame(arrow.rows.map(withoutSums), lines);
    const parquet = await readParquet((await ofProject(inFormat('parquet'))).rawPayload);
    t.strictSame(parquet.rows, arrow.rows);
    t.match(parquet.types, {
      comparison_clicks: 'BIGINT',
      change_clicks: 'BIGINT',
      changeRatio_clicks: 'DOUBLE',
      unsafe_clicks: 'VARCHAR[]',
      comparison_sum_position: path === '/breakdowns' ? 'DOUBLE' : 'BIGINT',
    });
  }
  const { headers } = await ofProject(`/site.csv?${query}`);
  t.match(headers, { 'x-comparison-from': '2026-01-11', 'x-comparison-to': '2026-02-07' });
  const days = parseNdjson((await ofProject(`/keywords.ndjson?${query}&daily=1`)).body);
  const expected = (await ask(`/keywords?${query}&daily=1`)).body.keywords.flatMap(
    ({ id, query: text, daily }: { id: string; query: string; daily: Row[] }) =>
      daily.map((day) => ({ id, query: text, ...flat(day) })),
  );
  t.strictSame(
    days,
    expected.map((row: Row) => likeFirst(row, days[0]!)),
  );
  const arrow = readArrow((await ofProject(`/keywords.arrow?${query}&daily=1`)).rawPayload).rows;
  const sum = (name: string) => arrow.reduce((total, row) => total + Number(row[name]), 0);
  const rows = keyword_daily.filter(isIn({ from: '2026-02-08', to: '2026-03-07' }));
  t.equal(sum('sum_position'), Number(addUp(rows).sum[0]));
});

function cellText(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value === 'number') return numberText(name, value);
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

const COLUMNS = [
  ...['clicks', 'impressions', 'ctr', 'position'].map((name) => `comparison_${name}`),
  ...['clicks', 'impressions', 'ctr', 'position'].flatMap((name) => [`change_${name}`, `changeRatio_${name}`]),
  ...['clicks', 'impressions', 'ctr', 'position'].map((name) => `unsafe_${name}`),
];

const FLAT: readonly (readonly [string, (body: Record<string, Row[]> & { brand: Record<string, Row> }) => Row[]])[] = [
  ['/site', ({ daily }) => daily!],
  ['/keywords', ({ keywords }) => keywords!.map(({ metrics, ...row }) => ({ ...(metrics as Row), ...row }))],
  ['/queries', ({ queries }) => queries!],
  ['/pages', ({ pages }) => pages!],
  [
    '/breakdowns',
    ({ countries, devices, appearances, brand }) => [
      ...countries!.map(({ country: value, ...row }) => ({ kind: 'country', value, ...row })),
      ...devices!.map(({ device: value, ...row }) => ({ kind: 'device', value, ...row })),
      ...appearances!.map(({ appearance: value, ...row }) => ({ kind: 'appearance', value, ...row })),
      ...Object.entries(brand).map(([value, row]) => ({ kind: 'segment', value, ctr: null, position: null, ...row })),
    ],
  ],
];

/** A row with its objects flattened; what it has no value of is null. */
function flat({ comparison, change, unsafe, ...row }: Row): Row {
  const names = ['clicks', 'impressions', 'ctr', 'position'];
  const of = (object: unknown, name: string) => (object as Record<string, unknown>)[name] ?? null;
  return {
    ...row,
    ...Object.fromEntries(names.map((name) => [`comparison_${name}`, of(comparison, name)])),
    ...Object.fromEntries(
      names.map((name) => [`change_${name}`, (of(change, name) as Row | null)?.['difference'] ?? null]),
    ),
    ...Object.fromEntries(
      names.map((name) => [`changeRatio_${name}`, (of(change, name) as Row | null)?.['ratio'] ?? null]),
    ),
    ...Object.fromEntries(names.map((name) => [`unsafe_${name}`, of(unsafe, name) ?? []])),
  };
}

function likeFirst(row: Row, first: Row): Row {
  return Object.fromEntries(
    [...Object.keys(first), ...Object.keys(row).filter((name) => !(name in first))].map((name) => [name, row[name]]),
  );
}

t.test("keywords are compared with nothing before the plan's history", async (t) => {
  const small: World = await makeWorld(t, {
    ...TABLES,
    workspaces: [{ id: 'acme', name: 'Acme', plan: 'team', keyword_history_days: 40 }],
  });
  // History begins on 2026-01-30.
  const { body } = await small.ask('/keywords?from=2026-02-20&to=2026-03-07&compare=2026-01-25..2026-02-09&daily=1');
  t.strictSame(body.range.comparison, { from: '2026-01-30', to: '2026-02-09', clamped: true });
  const [first] = body.keywords;
  const rows = keyword_daily.filter(({ keyword_id }) => keyword_id === first.id);
  const base = addUp(rows.filter(isIn({ from: '2026-01-30', to: '2026-02-09' })));
  t.strictSame(first.comparison, metricsOf(base));
  t.strictSame(first.unsafe.impressions, ['missing_days']);
  const beside = (date: string): unknown => (first.daily as Row[]).find((day) => day['date'] === date)?.['comparison'];
  t.strictSame(beside('2026-02-20') ?? beside('2026-02-21'), { clicks: 0, impressions: 0, ctr: null, position: null });
  for (const [index, day] of eachDay({ from: '2026-01-30', to: '2026-02-09' }).entries()) {
    const found = beside(shift('2026-02-25', index));
    if (found) t.strictSame(found, metricsOf(addUp(rows.filter(({ date }) => date === day))), day);
  }
  refusedFor(t, await small.ask('/keywords?period=28d&compare=2026-01-01..2026-01-29'), 'compare');
  t.equal(
    (await small.ask('/site?period=28d&compare=2026-01-01..2026-01-29')).status,
    200,
    'the site has no such limit',
  );
});

t.test('what cannot be compared is named', async (t) => {
  for (const compare of [
    'last',
    'previous,year',
    '2026-01-01',
    '2026-01-01..',
    '2026-02-30..2026-03-01',
    '2026-01-02..2026-01-01',
    '2020-01-01..2026-01-01',
    '',
  ]) {
    for (const path of ['/site', '/keywords', '/breakdowns', '/pages', '/queries']) {
      refusedFor(t, await ask(`${path}?compare=${compare}`), 'compare', `${path} ${compare}`);
    }
  }
  refusedFor(t, await ask('/site?compare=year&compare=previous'), 'compare');
  refusedFor(t, await ask('/pages?compare=2026-03-01..2026-03-15'), 'compare', 'lists end before today');
  t.equal((await ask('/site?compare=2026-03-01..2026-03-15')).status, 200);
});

t.test('a comparison is a question of its own: its tag changes with it and with its data', async (t) => {
  const tag = async (path: string) => {
    const url = `/api/v1/projects/Proj1${path}`;
    const { headers } = await world.app.inject({ url, headers: { authorization: `Bearer ${world.key}` } });
    return String(headers['etag']);
  };
  for (const path of ['/site?period=7d', '/keywords?period=7d', '/breakdowns?period=7d', '/pages?period=7d']) {
    const tags = [await tag(path), await tag(`${path}&compare=previous`), await tag(`${path}&compare=year`)];
    t.equal(new Set(tags).size, 3, path);
    t.equal(await tag(`${path}&compare=previous`), tags[1], path);
  }
});
