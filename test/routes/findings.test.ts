// Findings tell what differs from what a site usually does, with its numbers, and why something was not tested.
import t from 'tap';
import { putSyncDays, type SyncDay } from '../../server/catalog/sync-days.ts';
import { addDays } from '../../server/domain/dates.ts';
import { LAST, SITE } from '../findings/site.ts';
import { syncDay } from '../sync-day.ts';
import { makeWorld, ofProject, PROJECT } from '../world.ts';

const query_daily = SITE['query_daily']!;
const short = query_daily.filter(({ date }) => String(date) > addDays(LAST, -60));

const world = await makeWorld(t, {
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Short' },
    { ...PROJECT, id: 'NoDay' },
    { ...PROJECT, id: 'Fresh', last_synced_at: null, synced_through: null, provisional_after: null },
  ],
  ...SITE,
  query_daily: [...query_daily, ...ofProject('Short', short)],
});
const { app, key, ask, get } = world;

interface Listed {
  readonly evidence: object;
  readonly text: string;
  readonly since: string | null;
  readonly gain: { readonly low: number; readonly high: number } | null;
}
type Found = { type: string; query?: string; page?: string };
const rowOf = ({ type, query, page }: Found): string => `${type} ${query ?? page}`;
const sumOf = (name: string, from: number, to: number, measure: 'clicks' | 'impressions'): number =>
  query_daily
    .filter(
      ({ query, date }) => query === name && String(date) > addDays(LAST, -to) && String(date) <= addDays(LAST, -from),
    )
    .reduce((sum, row) => sum + Number(row[measure]), 0);

const { status, body } = await ask('/findings');

t.test('what was changed is found, and of the rest little', async (t) => {
  t.equal(status, 200);
  const found = body.findings.map(rowOf);
  for (const expected of [
    'low_ctr dull title',
    'falling dull title',
    'rising in the news',
    'falling slipped',
    'lost gone',
    'new arrived',
    'decaying_page https://shop.example/old',
    'split two pages',
  ]) {
    t.ok(found.includes(expected), expected);
  }
  const tested = body.findings.filter(({ p }: { p: number | null }) => p !== null);
  t.strictSame(
    tested.map(rowOf).filter((row: string) => /usual|\/\d+$/.test(row)),
    [],
    'rows that did not change are not listed',
  );
});

t.test('all that is listed, in its order', async (t) => {
  type Shown = Found & Listed & { p: number | null; adjusted: number | null; gain: { clicks: number } | null };
  const shown = (one: Shown) =>
    [rowOf(one), one.p?.toPrecision(3), one.adjusted?.toPrecision(3), ...Object.values(one.gain ?? {}), one.since].join(
      ' ',
    );
  t.strictSame((body.findings as Shown[]).map(shown), [
    'lost gone 8.18e-141 2.78e-139 2026-02-06',
    'falling gone 7.66e-20 4.29e-18 106 87 125 2026-02-08',
    'rising arrived 8.64e-19 2.42e-17 2026-02-15',
    'low_ctr dull title 1.56e-16 8.61e-15 501 445 557 2026-02-08',
    'decaying_page https://shop.example/old 5.49e-14 1.15e-12 266 220 315 2025-09-21',
    'rising in the news 1.11e-9 2.07e-8 2026-02-08',
    'falling dull title 1.03e-8 1.44e-7 505 417 593 2026-02-08',
    'falling slipped 3.55e-8 3.98e-7 467 379 555 2026-02-08',
    'new arrived 6.00e-8 0.00000204 2026-02-15',
    'split two pages   2026-02-09',
  ]);
  const counts = (tested: number, below05: number, listed: number) => ({ tested, below05, listed });
  t.strictSame(body.tested, {
    low_ctr: counts(55, 1, 1),
    high_ctr: counts(55, 1, 0),
    rising: counts(56, 5, 2),
    falling: counts(56, 5, 3),
    near_top: counts(29, 0, 0),
    decaying_page: counts(21, 1, 1),
    split: counts(2, 0, 1),
    new: counts(34, 1, 1),
    lost: counts(34, 1, 1),
  });
});

t.test('evidence has the sums of the rows, and the text quotes it', async (t) => {
  const listed = body.findings as readonly (Found & Listed)[];
  const of = (row: string): Listed => listed.find((one) => rowOf(one) === row)!;
  const low = of('low_ctr dull title');
  const [clicks, impressions] = [sumOf('dull title', 0, 28, 'clicks'), sumOf('dull title', 0, 28, 'impressions')];
  t.match(low.evidence, { clicks, impressions, ctr: Number((clicks / impressions).toFixed(4)), position: 4 });
  t.ok(
    low.text.includes(`${clicks.toLocaleString('en-US')} clicks of ${impressions.toLocaleString('en-US')} impressions`),
  );
  t.equal(low.since, addDays(LAST, -27));
  const gained = 1.5 * clicks;
  t.ok(low.gain!.low <= gained && gained <= low.gain!.high, 'the gain lies in its interval');
  t.match(of('rising in the news'), {
    evidence: { clicks: sumOf('in the news', 0, 28, 'clicks'), clicksBefore: sumOf('in the news', 28, 56, 'clicks') },
    gain: null,
    since: addDays(LAST, -27),
  });
  t.match(of('lost gone'), {
    evidence: { impressionsBefore: sumOf('gone', 28, 84, 'impressions') },
    since: addDays(LAST, -29),
    text: /not shown, or below the provider's privacy threshold/,
  });
  t.match(of('new arrived'), {
    evidence: { impressions: sumOf('arrived', 0, 28, 'impressions') },
    since: addDays(LAST, -20),
  });
  t.match(of('split two pages'), {
    evidence: {
      impressions: 1400,
      shownDays: 28,
      mainPageChanges: 27,
      pages: ['https://shop.example/a', 'https://shop.example/b'],
      pageImpressions: [840, 840],
    },
    gain: null,
    p: null,
    adjusted: null,
  });
});

t.test('type selects what is listed and changes no number', async (t) => {
  const one = await ask('/findings?type=lost');
  t.strictSame(
    one.body.findings,
    body.findings.filter(({ type }: Found) => type === 'lost'),
  );
  t.strictSame(one.body.tested, body.tested);
  const two = await ask('/findings?type=new&type=lost');
  t.strictSame(
    two.body.findings,
    body.findings.filter(({ type }: Found) => type === 'lost' || type === 'new'),
  );
  const page = await ask('/findings?limit=2&offset=1');
  t.strictSame(page.body.findings, body.findings.slice(1, 3));
  t.strictSame(page.body.paging, { total: body.paging.total, limit: 2, offset: 1 });
});

t.test('a range ends with the last final day', async (t) => {
  t.match(body.range, { from: addDays(LAST, -27), to: LAST, country: null, cut: false, provisionalAfter: LAST });
  const cut = await ask(`/findings?from=${addDays(LAST, -27)}&to=2026-03-10`);
  t.match(cut.body.range, { from: addDays(LAST, -27), to: LAST, cut: true });
  t.strictSame(cut.body.findings, body.findings);
});

t.test('what could not be tested says why', async (t) => {
  const reasons = async (project: string, more = ''): Promise<Record<string, string | undefined>> => {
    const { tested } = (await get(`/projects/${project}/findings${more}`)).body;
    return Object.fromEntries(Object.entries<{ reason?: string }>(tested).map(([type, { reason }]) => [type, reason]));
  };
  const all = 'needs_stored_days';
  const none = Object.fromEntries(Object.keys(body.tested).map((type) => [type, all]));
  t.strictSame(await reasons('NoDay'), none);
  t.strictSame(await reasons('Fresh'), none);
  t.strictSame(await reasons('Short'), {
    ...none,
    low_ctr: undefined,
    high_ctr: undefined,
    near_top: undefined,
  });
  t.equal((await reasons('Proj1'))['decaying_page'], undefined);
  t.equal((await reasons('Proj1', '?country=fra'))['low_ctr'], 'too_little_data');
});

t.test('each kind of test needs its own days: stored ones, and whole ones where absence is told', async (t) => {
  const reasonsTo = async (to: string) => {
    const { tested } = (await ask(`/findings?to=${to}`)).body;
    return Object.entries<{ reason?: string }>(tested).flatMap(([type, { reason }]) =>
      reason ? [`${type} ${reason}`] : [],
    );
  };
  const missing = (...types: string[]) => types.map((type) => `${type} needs_stored_days`);
  // [table, days before the last one of the range, what happened on that day, what is not tested]
  const cases: readonly (readonly [
    table: 'query_daily' | 'page_daily',
    age: number,
    more: Partial<SyncDay>,
    lacks: string[],
  ])[] = [
    ['query_daily', 0, { cutOff: true }, missing('new', 'lost')],
    ['query_daily', 83, { cutOff: true }, missing('new', 'lost')],
    ['query_daily', 84, { cutOff: true }, []],
    ['page_daily', 0, { cutOff: true }, []],
    ['query_daily', 0, { state: 'failed' }, missing('near_top', 'new', 'lost')],
    ['query_daily', 55, { state: 'failed' }, missing('near_top', 'new', 'lost')],
    ['query_daily', 56, { state: 'failed' }, missing('new', 'lost')],
    ['query_daily', 84, { state: 'failed' }, []],
    ['page_daily', 181, { state: 'failed' }, missing('decaying_page')],
    ['page_daily', 182, { state: 'failed' }, []],
  ];
  for (const [at, [table, age, more, lacks]] of cases.entries()) {
    // Each in a range of its own.
    const to = addDays(LAST, -1 - at);
    const day = addDays(to, -age);
    await putSyncDays(world.catalog, 'Proj1', [syncDay(table, day, more)]);
    t.strictSame(await reasonsTo(to), lacks, `${table} ${age} days before: ${JSON.stringify(more)}`);
    await putSyncDays(world.catalog, 'Proj1', [syncDay(table, day)]);
  }
});

t.test('flat rows have the same findings', async (t) => {
  const headers = { authorization: `Bearer ${key}` };
  const { body: text } = await app.inject({ url: '/api/v1/projects/Proj1/findings.csv?type=lost', headers });
  const csv = text.trim().split('\r\n');
  t.match(
    csv[0],
    /^type,page,query,evidence_clicks,.*,gain_clicks,gain_low,gain_high,p,adjusted,since,text,dismissedAt,dismissedBy$/,
  );
  t.match(csv[1], /^lost,,gone,/);
  t.equal(csv.length, 2);
});
