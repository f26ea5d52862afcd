// Each tool answers exactly what the rows say, in the order of clicks and not of texts or files, up to its limit.
import t from 'tap';
import { facts, keyword, makeWorld, ofProject, PROJECT, type Row, WORKSPACE } from '../world.ts';

const [NOW_DAY, THEN_DAY] = ['2026-03-02', '2026-02-02'];
const uuid = (last: number) => `5e1f0000-0000-4000-8000-00000000000${last}`;
const common = { workspace_id: 'acme', category: 'other', author: 'Ann', updated_at: '2026-03-01T00:00:00Z' };
const note = (last: number, date: string, text: string, more: Row = {}): Row => {
  return { ...common, id: uuid(last), scope: 'workspace', date, text, created_at: '2026-03-01T00:00:00Z', ...more };
};
const alert = (last: number, title: string, created_at: string, more: Row = {}): Row => {
  const kinds = { type: 'keyword_drop', kind: 'Keyword drop', severity: 'warning', body: '' };
  return { ...kinds, id: uuid(last), project_id: 'Proj1', title, created_at, ...more };
};

// The order of the rows is neither that of their texts nor that of their clicks, and clicks and changes have ties.
const QUERIES = facts(
  'date query country',
  [NOW_DAY, 'mango', 'usa', 30, 300, 600],
  [NOW_DAY, 'mango', 'fra', 20, 300, 500],
  [NOW_DAY, 'Apple', 'usa', 7, 70, 70],
  [NOW_DAY, 'zebra', 'usa', 90, 900, 1800],
  [NOW_DAY, 'яблоко', 'deu', 0, 40, 360],
  [NOW_DAY, 'birne', 'usa', 50, 500, 500],
  [THEN_DAY, 'gone b', 'usa', 5, 60, 60],
  [THEN_DAY, 'birne', 'usa', 10, 100, 100],
  [THEN_DAY, 'mango', 'usa', 90, 900, 0],
  [THEN_DAY, 'gone a', 'usa', 5, 50, 0],
  [THEN_DAY, 'zebra', 'usa', 50, 500, 2000],
  [THEN_DAY, 'Apple', 'usa', 12, 120, 0],
  [THEN_DAY, 'яблоко', 'deu', 0, 10, 10],
);
const PAGES = facts(
  'date url country',
  [NOW_DAY, 'https://shop.example/m', 'usa', 2, 20, 20],
  [NOW_DAY, 'https://shop.example/z', 'usa', 9, 90, 90],
  [NOW_DAY, 'https://shop.example/a', 'fra', 1, 10, 10],
);
const world = await makeWorld(t, {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other' }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Aaaaa', domain: 'zoo.example' },
    { ...PROJECT, id: 'Zzzzz', domain: 'ant.example' },
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
  ],
  keywords: [
    keyword('KwAaa', 'mango'),
    keyword('KwBbb', 'Zebra'),
    keyword('KwCcc', 'apple'),
    // Differs from another in case only.
    keyword('KwEee', 'ZEBRA'),
    ...ofProject('Other', [keyword('KwDdd', 'zebra')]),
  ],
  site_daily: [
    ...facts('date device', [NOW_DAY, 'mobile', 200, 2000, 4000], [THEN_DAY, 'mobile', 180, 1800, 3600]),
    ...ofProject('Other', facts('date device', [NOW_DAY, 'mobile', 7, 70, 70])),
  ],
  site_hourly: facts(
    'date hour',
    [NOW_DAY, '2026-03-02T10:00:00Z', 3, 20, 5],
    [NOW_DAY, '2026-03-02T08:00:00Z', 1, 10, 5],
    [NOW_DAY, '2026-03-02T09:00:00Z', 2, 30, 6],
  ),
  keyword_daily: facts(
    'keyword_id date device',
    ['KwAaa', NOW_DAY, 'mobile', 5, 50, 100],
    ['KwCcc', NOW_DAY, 'desktop', 5, 60, 0],
    ['KwEee', NOW_DAY, 'desktop', 20, 60, 60],
    ['KwBbb', NOW_DAY, 'mobile', 9, 90, 90],
    ['KwBbb', THEN_DAY, 'mobile', 1, 10, 90],
    ['KwBbb', '2026-03-01', 'mobile', 2, 10, 90],
  ),
  country_daily: facts(
    'date country',
    [NOW_DAY, 'fra', 20, 100, 100],
    [NOW_DAY, 'usa', 177, 1770, 2970],
    [NOW_DAY, 'deu', 3, 40, 360],
  ),
  appearance_daily: facts('date appearance', [NOW_DAY, 'VIDEO', 1, 10, 10], [NOW_DAY, 'AMP_BLUE_LINK', 2, 5, 5]),
  query_daily: QUERIES,
  page_daily: PAGES,
  alerts: [
    alert(1, 'Second', '2026-03-02T23:59:59Z'),
    alert(2, 'Third', '2026-03-03T00:00:00Z', { resolved_at: '2026-03-04T00:00:00Z' }),
    alert(3, 'First', '2026-03-02T00:00:00Z'),
    alert(4, 'Before', '2026-03-01T23:59:59Z'),
    ...[alert(5, 'Theirs', '2026-03-02T12:00:00Z', { project_id: 'Other' })],
  ],
  notes: [
    note(6, '2026-03-03', 'c'),
    note(7, '2026-03-01', 'a', { end_date: '2026-03-02' }),
    note(8, '2026-03-02', 'b'),
    note(9, '2026-03-02', 'theirs', { workspace_id: 'other' }),
  ],
});

async function tool(name: string, given: object = {}): Promise<{ body: Row }> {
  const { body } = await world.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      'x-api-key': world.key,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
  });
  const { result } = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body) as { result: { content: { text: string }[] } };
  return { body: JSON.parse(result.content[0]!.text) as Row };
}

const RANGE = { from: '2026-03-01', to: '2026-03-05' };
const COMPARED = { ...RANGE, compare: '2026-02-01..2026-02-05' };

const SITE = { id: 'Proj1', domain: 'shop.example' };
const known = (daysStored: number, ...missing: readonly string[]) => ({
  quality: {
    ...{ finalThrough: '2026-03-07', provisional: null, daysExpected: 5, daysStored, daysProvisional: 0 },
    ...{ daysCutOff: 0, missing: missing.map((days) => ({ from: days.split(' ')[0], to: days.split(' ')[1] })) },
    ...{ anonymousClicksShare: null, queryCoverage: { clicks: null, impressions: null }, reconciledAt: null },
    ...{ rankingUpdates: [], rankingUpdatesThrough: '2026-03-05' },
  },
  events: [
    {
      title:
        'Impressions were over-counted by an error in logging; clicks were not. Whether positions were is disputed.',
      ...{ from: '2025-05-13', to: '2026-04-27', affects: ['impressions', 'ctr', 'position'], device: null },
      source: 'https://support.google.com/webmasters/answer/6211453',
    },
  ],
});
/** Of the site and its lists, and of keywords. */
const ONE_DAY = known(1, '2026-03-01 2026-03-01', '2026-03-03 2026-03-05');
const TWO_DAYS = known(2, '2026-03-03 2026-03-05');
const measures = (clicks: number, impressions: number, ctr: number | null, position: number | null) => {
  return { clicks, impressions, ctr, position };
};

t.test('list_projects: one page and the next, by id and not by domain', async (t) => {
  const all = (await world.get('/projects')).body.projects as Row[];
  t.strictSame(
    all.map(({ id, domain }) => [id, domain]),
    [
      ['Aaaaa', 'zoo.example'],
      ['Proj1', 'shop.example'],
      ['Zzzzz', 'ant.example'],
    ],
  );
  for (const [limit, offset, from, to, nextOffset] of [
    [2, 0, 0, 2, 2],
    [3, 0, 0, 3, null],
    [4, 0, 0, 3, null],
    [2, 1, 1, 3, null],
    [1, 1, 1, 2, 2],
    [1, 3, 3, 3, null],
  ] as const) {
    const expected = { total: 3, returned: to - from, nextOffset, projects: all.slice(from, to) };
    t.strictSame((await tool('list_projects', { limit, offset })).body, expected, `${limit} from ${offset}`);
  }
});

t.test('top_rows: by clicks, ties by impressions, page after page', async (t) => {
  const row = (query: string, numbers: object, trackedKeywordId: string | null = null) => {
    return { query, ...numbers, branded: false, trackedKeywordId };
  };
  const queries = [
    row('zebra', measures(90, 900, 0.1, 3), 'KwEee'),
    row('mango', measures(50, 600, 0.0833, 2.8), 'KwAaa'),
    row('birne', measures(50, 500, 0.1, 2)),
    row('Apple', measures(7, 70, 0.1, 2), 'KwCcc'),
    row('яблоко', measures(0, 40, 0, 10)),
  ];
  const range = { ...RANGE, country: null };
  const source = { kind: 'bigquery', fetchedAt: '2026-03-15T12:00:00.000Z', truncated: false, capped: false };
  for (const [limit, offset, from, to, nextOffset] of [
    [4, 0, 0, 4, 4],
    [5, 0, 0, 5, null],
    [6, 0, 0, 5, null],
    [2, 2, 2, 4, 4],
    [2, 5, 5, 5, null],
  ] as const) {
    const counted = { total: 5, returned: to - from, nextOffset };
    t.strictSame(
      (await tool('top_rows', { project: 'Proj1', ...RANGE, limit, offset })).body,
      { project: SITE, range, source, ...ONE_DAY, ...counted, queries: queries.slice(from, to) },
      `${limit} from ${offset}`,
    );
  }
  const page = (name: string, clicks: number) => {
    return { url: `https://shop.example/${name}`, ...measures(clicks, clicks * 10, 0.1, 2) };
  };
  const counted = { total: 3, returned: 3, nextOffset: null };
  t.strictSame((await tool('top_rows', { project: 'Proj1', ...RANGE, kind: 'pages' })).body, {
    ...{ project: SITE, range, source, ...ONE_DAY, ...counted, pages: [page('z', 9), page('m', 2), page('a', 1)] },
  });
  const tracked = (id: string, query: string, metrics: object) => ({
    ...{ id, query, source: 'import', trackedSince: '2025-01-05T00:00:00.000Z', intent: 'unclassified' },
    ...{ groupIds: [], metrics },
  });
  t.strictSame((await tool('top_rows', { project: 'Proj1', ...RANGE, kind: 'keywords' })).body, {
    ...{ project: SITE, range: { ...RANGE, device: 'all', clamped: false, provisionalAfter: '2026-03-07' } },
    ...{ ...TWO_DAYS, total: 4, returned: 4, nextOffset: null },
    keywords: [
      tracked('KwEee', 'ZEBRA', measures(20, 60, 0.3333, 2)),
      tracked('KwBbb', 'Zebra', measures(11, 100, 0.11, 2.8)),
      tracked('KwCcc', 'apple', measures(5, 60, 0.0833, 1)),
      tracked('KwAaa', 'mango', measures(5, 50, 0.1, 3)),
    ],
  });
});

const CHANGES: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  clicks: {
    // Equal changes are in the order of the list, by clicks now.
    gained: ['zebra 50 90 40', 'birne 10 50 40'],
    lost: ['mango 90 50 -40', 'Apple 12 7 -5'],
  },
  impressions: {
    gained: ['zebra 500 900 400', 'birne 100 500 400', 'яблоко 10 40 30'],
    lost: ['mango 900 600 -300', 'Apple 120 70 -50'],
  },
  position: {
    gained: ['zebra 5 3 -2'],
    lost: ['яблоко 2 10 8', 'mango 1 2.8 1.8', 'Apple 1 2 1'],
  },
};

t.test('changes: the largest first, ties as in the list, up to the limit of each', async (t) => {
  const { totals } = (await world.ask('/site?from=2026-03-01&to=2026-03-05&compare=2026-02-01..2026-02-05')).body;
  // Of equal clicks those with more impressions first.
  const vanished = ['gone b 5 60 0.0833 2', 'gone a 5 50 0.1 1'];
  for (const [metric, { gained = [], lost = [] }] of Object.entries(CHANGES)) {
    for (const limit of [1, 2, 3, 10]) {
      const { body } = await tool('changes', { project: 'Proj1', ...COMPARED, metric, limit });
      const shown = (rows: unknown) =>
        (rows as Row[]).map((row) =>
          [row['query'], row[`comparison_${metric}`], row[metric], row[`change_${metric}`]].join(' '),
        );
      const gone = (rows: unknown) =>
        (rows as Row[]).map(({ query, ...row }) =>
          [query, ...['clicks', 'impressions', 'ctr', 'position'].map((name) => row[`comparison_${name}`])].join(' '),
        );
      const rows = {
        gained: gained.slice(0, limit),
        lost: lost.slice(0, limit),
        vanished: vanished.slice(0, limit),
      };
      const { length: most } = rows.vanished;
      t.strictSame(
        { ...body, gained: shown(body['gained']), lost: shown(body['lost']), vanished: gone(body['vanished']) },
        {
          ...{ project: SITE, range: { ...RANGE, comparison: { from: '2026-02-01', to: '2026-02-05' } }, ...ONE_DAY },
          ...{ site: totals, kind: 'queries', metric, total: 5 },
          ...{ returned: { gained: rows.gained.length, lost: rows.lost.length, vanished: most }, ...rows },
        },
        `${metric}, ${limit}`,
      );
    }
  }
});

t.test('changes: what the provider counted otherwise between the two ranges is named', async (t) => {
  const { body } = await tool('changes', { project: 'Proj1', ...RANGE, compare: '2025-09-01..2025-09-05' });
  t.strictSame(
    (body['events'] as Row[]).map(({ from }) => from),
    ['2025-05-13', '2025-09-10'],
  );
});

t.test('breakdowns, hours, alerts and notes: all, or the first or newest ones', async (t) => {
  const countries = [
    { country: 'usa', ...measures(177, 1770, 0.1, 2.7) },
    { country: 'fra', ...measures(20, 100, 0.2, 2) },
    { country: 'deu', ...measures(3, 40, 0.075, 10) },
  ];
  const appearances = [
    { appearance: 'VIDEO', ...measures(1, 10, 0.1, 2) },
    { appearance: 'AMP_BLUE_LINK', ...measures(2, 5, 0.4, 2) },
  ];
  const devices = [{ device: 'mobile', ...measures(200, 2000, 0.1, 3) }];
  const nothing = measures(0, 0, null, null);
  for (const limit of [1, 2, 3, 4]) {
    t.strictSame((await tool('breakdowns', { project: 'Proj1', ...RANGE, limit })).body, {
      project: SITE,
      range: {
        ...{ ...RANGE, availableFrom: '2026-02-02', availableThrough: '2026-03-02', provisionalAfter: '2026-03-07' },
        countryMonthlyThrough: null,
      },
      ...ONE_DAY,
      total: { countries: 3, devices: 1, appearances: 2 },
      returned: { countries: Math.min(limit, 3), devices: 1, appearances: Math.min(limit, 2) },
      brand: { brand: nothing, nonBrand: nothing, anonymous: { clicks: 200, impressions: 2000 } },
      ...{ countries: countries.slice(0, limit), devices, appearances: appearances.slice(0, limit) },
    });
  }
  const hour = (at: number, numbers: object) => {
    return { hour: `2026-03-02T${String(at).padStart(2, '0')}:00:00-08:00`, ...numbers };
  };
  const first = [measures(1, 10, 0.1, 1.5), measures(2, 30, 0.0667, 1.2), measures(3, 20, 0.15, 1.3)];
  const hours = Array.from({ length: 24 }, (_, at) => hour(at, first[at] ?? nothing));
  for (const limit of [22, 23, 24, 25]) {
    t.strictSame((await tool('hours', { project: 'Proj1', from: NOW_DAY, to: NOW_DAY, limit })).body, {
      project: SITE,
      range: { from: hour(0, {}).hour, to: hour(23, {}).hour, provisionalAfter: '2026-03-07T23:00:00-08:00' },
      ...{ total: 24, returned: Math.min(limit, 24), hours: hours.slice(-limit) },
    });
  }
  const [all, open] = ['Third Second First Before', 'Second First Before'];
  for (const [given, alerts, notes, total = {}] of [
    [{}, all, 'a b c'],
    [{ status: 'open' }, open, 'a b c'],
    [{ from: '2026-03-02' }, 'Third Second First', 'a b c'],
    [{ to: '2026-03-02' }, open, 'a b'],
    [{ from: '2026-03-02', to: '2026-03-02' }, 'Second First', 'a b'],
    [{ from: '2026-03-03', to: '2026-03-03' }, 'Third', 'c'],
    [{ limit: 2 }, 'Third Second', 'b c', { alerts: 4, notes: 3 }],
    [{ limit: 3 }, 'Third Second First', 'a b c', { alerts: 4 }],
    [{ limit: 4 }, all, 'a b c'],
  ] as const) {
    const { from = null, to = null } = given as Readonly<Record<string, string>>;
    const { body } = await tool('alerts_and_notes', { project: 'Proj1', ...given });
    const named = (rows: unknown, name: string) => (rows as Row[]).map((row) => row[name]).join(' ');
    const returned = { alerts: alerts.split(' ').length, notes: notes.split(' ').length };
    t.strictSame(
      { ...body, alerts: named(body['alerts'], 'title'), notes: named(body['notes'], 'text') },
      { project: SITE, range: { from, to }, total: { ...returned, ...total }, returned, alerts, notes },
      JSON.stringify(given),
    );
  }
});

t.test('keyword_history and site_performance: days, or weeks where there are more days than rows', async (t) => {
  const days = [
    { date: '2026-03-01', ...measures(2, 10, 0.2, 10) },
    { date: NOW_DAY, ...measures(9, 90, 0.1, 2) },
  ];
  const of = (limit: number, more: Row = {}) =>
    tool('keyword_history', { project: 'Proj1', ...RANGE, keyword: 'KwBbb', limit, ...more });
  const keyword = {
    ...{ id: 'KwBbb', query: 'Zebra', source: 'import', trackedSince: '2025-01-05T00:00:00.000Z' },
    ...{ intent: 'unclassified', groupIds: [], metrics: measures(11, 100, 0.11, 2.8) },
  };
  const range = { ...RANGE, device: 'all', clamped: false, provisionalAfter: '2026-03-07' };
  const head = { project: SITE, range, ...TWO_DAYS, keyword };
  const asDays = { ...head, interval: 'day', total: 2, returned: 2, daily: days };
  t.strictSame((await of(3)).body, asDays);
  t.strictSame((await of(2)).body, asDays, 'as many days as rows');
  const newest = { ...asDays, returned: 1, daily: days.slice(1) };
  t.strictSame((await of(1, { interval: 'day' })).body, newest, 'the newest one');
  // The last week of the range has four of its days.
  const week = { date: NOW_DAY, days: 4, ...measures(9, 90, 0.1, 2) };
  const asWeeks = { ...head, interval: 'week', total: 2, returned: 1, daily: [week] };
  t.strictSame((await of(1)).body, asWeeks, 'one more');
  for (const [limit, interval, total] of [
    [4, 'week', 2],
    [5, 'day', 5],
    [6, 'day', 5],
  ] as const) {
    const { body } = await tool('site_performance', { project: 'Proj1', ...RANGE, limit });
    const api = (await world.ask(`/site?from=2026-03-01&to=2026-03-05&interval=${interval}`)).body;
    t.strictSame(body, {
      ...{ project: SITE, range: api.range, ...ONE_DAY, totals: measures(200, 2000, 0.1, 3) },
      ...{ interval, total, returned: total, daily: api.daily },
    });
  }
  const { quality } = (await tool('site_performance', { project: 'Proj1', from: NOW_DAY, to: '2026-03-08' })).body;
  const last = { from: '2026-03-08', to: '2026-03-08' };
  t.strictSame((quality as Row)['provisional'], last, 'one day may still change');
});
