// A comparison of any days is a question of its own, with the reasons that hold for its days, devices and keywords.
import t from 'tap';
import { putSyncKeywords } from '../../server/catalog/sync-days.ts';
import { dashboardOf } from '../dashboard/dashboard-of.ts';
import { parseNdjson } from '../formats/read.ts';
import { type Answer, facts, keyword, makeWorld, NOW, type Row, refusedFor, type World } from '../world.ts';

const DAY = 86_400_000;
/** Days of which no two have equal numbers, in no order. */
const DAYS = Array.from({ length: 60 }, (_, at) =>
  new Date(Date.parse('2026-01-10') + ((at * 23) % 60) * DAY).toISOString().slice(0, 10),
);
const AUTUMN = ['2025-08-05', '2025-09-12', '2025-09-20'];
const KEYWORDS = ['Kw00B', 'kw00a', 'Kw00C'];

// Each request is a second after the one before, so that no limit is reached.
let time = NOW;
const world = await makeWorld(
  t,
  {
    keywords: KEYWORDS.map((id, at) => keyword(id, `shoes ${at}`)),
    site_daily: facts(
      'date device',
      ...[...DAYS, ...AUTUMN].flatMap((day, at) => [
        [day, 'mobile', 20 + at, 300 + at, 900],
        [day, 'desktop', 30 + at, 300 + at, 700 + at],
      ]),
    ),
    keyword_daily: facts(
      'keyword_id date device',
      ...KEYWORDS.flatMap((id, of) => DAYS.map((day, at) => [id, day, 'mobile', 15 + at, 100 + of * at, 50 + at])),
    ),
    page_daily: facts('date url country', ...DAYS.map((day, at) => [day, 'https://shop.example/', 'gbr', at, 99, 9])),
    query_daily: facts('date query country', ...DAYS.map((day, at) => [day, 'shoes', 'gbr', at, 99, 9])),
  },
  { now: () => time },
);
const ask: World['ask'] = (path) => {
  time += 1000;
  return world.ask(path);
};

t.test('an event of desktop makes ratios of desktop and of all devices unsafe, those of mobile not', async (t) => {
  for (const [device, impressions, position] of [
    ['desktop', ['missing_days', 'provider_event'], ['missing_days', 'provider_event']],
    ['all', ['missing_days', 'provider_event'], ['missing_days', 'provider_event']],
    ['mobile', ['missing_days'], ['missing_days']],
  ] as const) {
    const { totals } = (
      await ask(`/site?from=2025-09-20&to=2025-09-21&compare=2025-08-05..2025-08-06&device=${device}`)
    ).body;
    t.strictSame(totals.unsafe, { clicks: ['missing_days'], impressions, ctr: impressions, position }, device);
  }
  const { devices } = (await ask('/breakdowns?from=2025-09-20&to=2025-09-20&compare=2025-08-05..2025-08-05')).body;
  const unsafe = { impressions: ['provider_event'], ctr: ['provider_event'], position: ['provider_event'] };
  t.strictSame(Object.fromEntries((devices as Row[]).map((row) => [row['device'], row['unsafe']])), {
    desktop: unsafe,
    mobile: {},
  });
});

t.test('answers with days are the same one after the other and side by side', async (t) => {
  const queries = ['previous', 'year', '2026-02-01..2026-02-28'].flatMap((compare) =>
    ['', '&interval=week', '&device=tablet'].map((more) => `/keywords?to=2026-03-07&compare=${compare}&daily=1${more}`),
  );
  const alone: unknown[] = [];
  for (const query of queries) alone.push((await ask(query)).body);
  const together = await Promise.all(queries.toReversed().map((query) => ask(query)));
  t.strictSame(
    together.toReversed().map(({ body }): unknown => body),
    alone,
  );
});

t.test('a keyword that is tracked since recently lacks days that others have', async (t) => {
  const [young = '', ...others] = KEYWORDS;
  const path = '/keywords?period=7d&to=2026-03-07';
  const lacking = async (compare: string): Promise<string[]> => {
    const { keywords } = (await ask(`${path}&compare=${compare}`)).body as { keywords: Row[] };
    const rows = keywords as unknown as { id: string; unsafe: { ctr?: string[] } }[];
    return rows.filter(({ unsafe }) => unsafe.ctr?.includes('missing_days')).map(({ id }) => id);
  };
  t.strictSame(await lacking('previous'), [], 'loaded keywords have what was loaded');
  const fetched = (id: string, from: string) => {
    return { id, query: `shoes ${KEYWORDS.indexOf(id)}`, from, to: '2026-03-10' };
  };
  await putSyncKeywords(world.catalog, 'Proj1', [
    ...others.map((id) => fetched(id, '2026-01-01')),
    fetched(young, '2026-02-26'),
  ]);
  for (const [compare, expected] of [
    ['2026-02-20..2026-02-26', [young]],
    ['2026-02-25..2026-03-01', [young]],
    ['2026-02-26..2026-03-01', []],
  ] as const) {
    t.strictSame(await lacking(compare), expected, compare);
  }
  time += 1000;
  const { body } = await world.app.inject({
    url: `/api/v1/projects/Proj1${path}&compare=2026-02-19..2026-02-25&format=ndjson`,
    headers: { authorization: `Bearer ${world.key}` },
  });
  const rows = parseNdjson(body).filter((row) => (row['unsafe_ctr'] as string[]).includes('missing_days'));
  t.strictSame(
    rows.map(({ id }) => id),
    [young],
    'in every format',
  );
});

t.test('the last days that can be named', async (t) => {
  for (const interval of ['day', 'week', 'month']) {
    const last = `to=9999-12-31&period=40d&compare=9999-12-01..9999-12-31&interval=${interval}`;
    t.strictSame((await ask(`/site?${last}`)).body.daily, [], interval);
    t.equal((await ask(`/keywords?${last}&daily=1`)).status, 200, interval);
  }
});

t.test('the tag of an answer changes with its comparison', async (t) => {
  for (const path of ['/site?period=7d', '/keywords?period=7d', '/breakdowns?period=7d', '/pages?period=7d']) {
    const tags = [];
    for (const compare of ['', '&compare=previous', '&compare=year', '&compare=2026-02-01..2026-02-07'])
      tags.push((await ask(path + compare)).headers['etag']);
    t.equal(new Set(tags).size, 4, path);
    t.equal((await ask(`${path}&compare=previous`)).headers['etag'], tags[1], path);
  }
});

/** A day's clicks are 1, its impressions its month and day. */
const ORDINAL = Array.from({ length: 130 }, (_, at) =>
  new Date(Date.parse('2025-11-01') + ((at * 37) % 130) * DAY).toISOString().slice(0, 10),
).map((day) => [day, 1, Number(day.slice(5).replace('-', '')), 9]);
const numbered = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);

t.test('days, weeks and months of whole months lie beside those of the months in the same place', async (t) => {
  const rows = (columns: string, ...names: string[]): Row[] =>
    facts(`date ${columns}`, ...ORDINAL.map(([day, ...numbers]) => [day, ...names, ...numbers]));
  const page = 'https://shop.example/a';
  const whole = await makeWorld(t, {
    keywords: [keyword('Kw001', 'red shoes')],
    site_daily: rows('device', 'mobile'),
    keyword_daily: rows('keyword_id device', 'Kw001', 'mobile'),
    page_daily: rows('url country', page, 'gbr'),
  });
  const dashboard = await dashboardOf(whole);
  const body = async (path: string): Promise<Answer['body']> => (await whole.ask(path)).body;
  for (const [now, compare, interval, metric, expected] of [
    ['2025-12-01..2025-12-31', 'previous', 'day', 'impressions', [...numbered(1101, 1130), null]],
    ['2026-02-01..2026-02-28', 'previous', 'day', 'impressions', numbered(101, 128)],
    ['2026-02-01..2026-02-28', 'previous', 'week', 'clicks', [1, 7, 7, 7, 6]],
    ['2026-02-01..2026-02-28', 'previous', 'month', 'clicks', [31]],
    ['2026-01-01..2026-02-28', '2025-12-01..2026-01-31', 'week', 'clicks', [4, 7, 7, 7, 7, 7, 7, 7, 6]],
    ['2026-01-01..2026-02-28', '2025-11-01..2025-11-30', 'month', 'clicks', [30, null]],
    ['2026-02-01..2026-02-20', '2026-01-05..2026-01-15', 'month', 'clicks', [11]],
  ] as const) {
    const [from, to] = now.split('..');
    const query = `from=${from}&to=${to}&compare=${compare}&interval=${interval}`;
    const base = compare === 'previous' ? compare : { from: compare.slice(0, 10), to: compare.slice(12) };
    const asked = { range: { from, to }, dimensions: [interval === 'day' ? 'date' : interval], compare: base };
    const series = {
      site: (await body(`/site?${query}`)).daily,
      portfolio: (await whole.get(`/portfolio?${query}&daily=1`)).body.projects[0].daily,
      keyword: (await body(`/keywords?${query}&daily=1`)).keywords[0].daily,
      question: (await body(`/query?q=${encodeURIComponent(JSON.stringify(asked))}`)).rows,
    };
    for (const [name, found] of Object.entries(series)) {
      const beside = (found as { comparison: Record<string, number> | null }[]).map(
        ({ comparison }) => comparison?.[metric] ?? null,
      );
      t.strictSame(beside, expected, `${name} ${query}`);
    }
    for (const path of [`days-of-page?page=${page}`, `line?of=page&text=${page}`]) {
      const { comparison } = (await dashboard(`Proj1/${path}&${query}`)).body;
      t.strictSame(
        (comparison as Row[]).map((point) => point[metric]),
        expected.filter((number) => number !== null),
        `${path} ${query}`,
      );
    }
  }
});

t.test('what cannot be compared is refused by its name', async (t) => {
  for (const path of ['/site', '/keywords', '/breakdowns', '/pages', '/queries']) {
    for (const compare of ['last', 'previous,year', '2026-01-01', '2026-01-01..', '2026-02-30..2026-03-01', ''])
      refusedFor(t, await ask(`${path}?compare=${compare}`), 'compare', `${path} ${compare}`);
    refusedFor(t, await ask(`${path}?compare=year&compare=previous`), 'compare', path);
    const isList = path === '/pages' || path === '/queries';
    for (const [last, status] of [
      ['2026-03-14', 200],
      ['2026-03-15', isList ? 400 : 200],
    ] as const) {
      t.equal((await ask(`${path}?compare=2026-03-01..${last}`)).status, status, `${path} ${last}`);
    }
  }
});
