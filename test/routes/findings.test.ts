// Findings tell what differs from what a site usually does, with its numbers, and why something was not tested.
import t from 'tap';
import { addDays } from '../../server/domain/dates.ts';
import { LAST, SITE } from '../findings/site.ts';
import { makeWorld, ofProject, PROJECT, refusedFor } from '../world.ts';

const query_daily = SITE['query_daily']!;
const short = query_daily.filter(({ date }) => String(date) > addDays(LAST, -60));

const { app, key, ask, get } = await makeWorld(t, {
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Short' },
    { ...PROJECT, id: 'NoDay' },
    { ...PROJECT, id: 'Fresh', last_synced_at: null, synced_through: null, provisional_after: null },
  ],
  ...SITE,
  query_daily: [...query_daily, ...ofProject('Short', short)],
});

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

t.test('findings come by p, lists last by gain; families share what they tested', async (t) => {
  const p = body.findings.map((one: { p: number | null }) => one.p ?? 2);
  t.strictSame(
    p,
    p.toSorted((a: number, b: number) => a - b),
  );
  const { low_ctr: low, high_ctr: high, rising, falling } = body.tested;
  t.strictSame([low.tested, low.below05], [high.tested, high.below05]);
  t.strictSame([rising.tested, rising.below05], [falling.tested, falling.below05]);
  for (const [type, { listed }] of Object.entries<{ listed: number }>(body.tested)) {
    t.equal(body.findings.filter((one: Found) => one.type === type).length, listed, type);
  }
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

t.test('a smaller q lists less', async (t) => {
  const strict = await ask('/findings?q=0.01');
  t.equal(strict.body.q, 0.01);
  for (const { adjusted } of strict.body.findings) t.ok(adjusted === null || adjusted <= 0.01);
  t.ok(strict.body.paging.total <= body.paging.total);
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

t.test('bad parameters are refused by name', async (t) => {
  for (const [parameters, name] of [
    ['q=0.9', 'q'],
    ['q=1e-1', 'q'],
    ['q=0.1&q=0.2', 'q'],
    ['type=lots', 'type'],
    ['type=lost&type=', 'type'],
    ['dismissed=yes', 'dismissed'],
    ['limit=1001', 'limit'],
    ['from=2026-03-09&to=2026-03-10', 'from'],
    ['to=2026-03-15', 'to'],
  ] as const) {
    refusedFor(t, await ask(`/findings?${parameters}`), name, parameters);
  }
});
