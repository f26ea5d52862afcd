// The pages endpoint lists the pages of a project from one stored list, ranked by clicks.
import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { localOnly } from '../stores.ts';
import { facts, makeWorld, NOW, ofProject, PROJECT, refusedFor } from '../world.ts';

const url = (path: string): string => `https://shop.example${path}`;

const PAGE_DAILY = facts(
  'date url country',
  ['2026-03-01', url('/b'), 'usa', 2, 10, 5],
  ['2026-03-02', url('/b'), 'gbr', 1, 6, 3],
  // equal except for their texts, whose UTF-16 order differs
  ['2026-03-01', url('/\u{1f40d}'), 'usa', 1, 10, 0],
  ['2026-03-01', url('/\uff21'), 'usa', 1, 10, 0],
  ['2026-03-01', url('/Z'), 'usa', 1, 10, 0],
  ['2026-03-01', url('/a'), 'usa', 1, 10, 0],
  ['2026-03-01', url('/more'), 'gbr', 1, 11, 0],
  ['2026-03-01', url('/none'), 'usa', 0, 7, 14],
  ['2026-03-10', url('/late'), 'usa', 50, 100, 0],
  ['2026-01-10', url('/old'), 'usa', 90, 100, 0],
);

const { ask, get, load, dataFolder } = await makeWorld(t, {
  projects: [
    PROJECT,
    { ...PROJECT, id: 'NoSrc' },
    { ...PROJECT, id: 'Ahead', synced_through: '2026-03-15' },
    { ...PROJECT, id: 'Fresh', last_synced_at: null, synced_through: null, provisional_after: null },
  ],
  page_daily: [...PAGE_DAILY, ...ofProject('Ahead', PAGE_DAILY), ...ofProject('Fresh', PAGE_DAILY)],
});

const MARCH = 'from=2026-03-01&to=2026-03-05';

t.test('pages with totals: clicks, then impressions, then the bytes of the url', async (t) => {
  const { status, body } = await ask(`/pages?${MARCH}`);
  t.equal(status, 200);
  const { fetchedAt, ...source } = body.source;
  t.equal(fetchedAt, new Date(NOW).toISOString());
  t.strictSame(
    { ...body, source },
    {
      project: { id: 'Proj1', domain: 'shop.example' },
      range: { from: '2026-03-01', to: '2026-03-05', country: null },
      source: { kind: 'bigquery', truncated: false, capped: false },
      paging: { total: 7, limit: 1000, offset: 0 },
      pages: [
        { url: url('/b'), clicks: 3, impressions: 16, ctr: 0.1875, position: 1.5 },
        { url: url('/more'), clicks: 1, impressions: 11, ctr: 0.0909, position: 1 },
        { url: url('/Z'), clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
        { url: url('/a'), clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
        { url: url('/\uff21'), clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
        { url: url('/\u{1f40d}'), clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
        { url: url('/none'), clicks: 0, impressions: 7, ctr: 0, position: 3 },
      ],
    },
  );
});

t.test('one country, in either letter case', async (t) => {
  const { body } = await ask(`/pages?${MARCH}&country=GBR`);
  t.strictSame(body.range, { from: '2026-03-01', to: '2026-03-05', country: 'gbr' });
  t.strictSame(body.pages, [
    { url: url('/more'), clicks: 1, impressions: 11, ctr: 0.0909, position: 1 },
    { url: url('/b'), clicks: 1, impressions: 6, ctr: 0.1667, position: 1.5 },
  ]);
  const none = await ask(`/pages?${MARCH}&country=fra`);
  t.equal(none.status, 200);
  t.strictSame(none.body.pages, []);
  t.equal(none.body.paging.total, 0);
});

t.test('all pages come from one fetched list; pages past the total are empty', async (t) => {
  const walked: string[] = [];
  const fetched = new Set<string>();
  const whole = await ask(`/pages?${MARCH}`);
  for (let offset = 0; offset < 9; offset += 3) {
    const { body } = await ask(`/pages?${MARCH}&limit=3&offset=${offset}`);
    t.strictSame(body.paging, { total: 7, limit: 3, offset });
    for (const page of body.pages as { url: string }[]) walked.push(page.url);
    fetched.add(body.source.fetchedAt as string);
  }
  t.strictSame(
    walked,
    (whole.body.pages as { url: string }[]).map((page) => page.url),
  );
  t.strictSame([...fetched], [whole.body.source.fetchedAt]);
  for (const offset of [7, 8, 1_000_000]) {
    const past = await ask(`/pages?${MARCH}&limit=25000&offset=${offset}`);
    t.equal(past.status, 200);
    t.strictSame(past.body.paging, { total: 7, limit: 25_000, offset });
    t.strictSame(past.body.pages, []);
  }
});

t.test('concurrent equal requests share one fetch', async (t) => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/pages?from=2026-02-20&to=2026-03-03')));
  t.equal(new Set(answers.map(({ body }) => body.source.fetchedAt as string)).size, 1);
  t.ok(answers.every(({ body }) => body.pages.length === 7));
});

t.test('the default range, and one without stored days', async (t) => {
  const { body } = await ask('/pages');
  t.strictSame(body.range, { from: '2026-02-11', to: '2026-03-10', country: null });
  t.equal(body.pages[0].url, url('/late'));
  const empty = await ask('/pages?from=2025-01-01&to=2025-02-01');
  t.equal(empty.status, 200);
  t.strictSame(empty.body.pages, []);
  t.strictSame(empty.body.paging, { total: 0, limit: 1000, offset: 0 });
  t.match(empty.body.source, { kind: 'bigquery', truncated: false, capped: false });
});

t.test('to must be before today, and by default it is', async (t) => {
  refusedFor(t, await ask('/pages?to=2026-03-15'), 'to', 'today');
  refusedFor(t, await ask('/pages?to=2026-03-16'), 'to', 'tomorrow');
  refusedFor(t, await ask('/pages?to=2030-01-01&period=1d'), 'to');
  t.equal((await ask('/pages?to=2026-03-14')).status, 200);
  t.strictSame((await get('/projects/Ahead/pages')).body.range.to, '2026-03-14');
  t.strictSame((await get('/projects/Fresh/pages')).body.range, {
    from: '2026-02-15',
    to: '2026-03-14',
    country: null,
  });
});

t.test('a project without a source', async (t) => {
  const { status, headers, body } = await get('/projects/NoSrc/pages');
  t.equal(status, 503);
  t.equal(body.error.code, 'unavailable');
  t.equal(headers['retry-after'], '60');
  refusedFor(t, await get('/projects/NoSrc/pages?limit=0'), 'limit');
});

t.test('invalid parameters', async (t) => {
  for (const limit of ['0', '25001', '1.5', '']) refusedFor(t, await ask(`/pages?limit=${limit}`), 'limit', limit);
  for (const offset of ['-1', 'x', '']) refusedFor(t, await ask(`/pages?offset=${offset}`), 'offset', offset);
  for (const country of ['us', 'u5a', '']) refusedFor(t, await ask(`/pages?country=${country}`), 'country', country);
  refusedFor(t, await ask('/pages?from=2026-03-02&to=2026-03-01'), 'from');
  refusedFor(t, await ask('/pages?from=2024-11-09'), 'from', '487 days');
  refusedFor(t, await ask('/pages?from=2026-03-01&period=3d'), 'period');
  refusedFor(t, await ask('/pages?period=0m'), 'period');
});

t.test('a list that is lost or damaged on disk is made again', localOnly, async (t) => {
  const { body: first } = await ask('/pages?from=2026-03-01&to=2026-03-01');
  const lists = globSync(join(dataFolder, 'lists/*.parquet'));
  t.ok(lists.length > 0);
  for (const [index, file] of lists.entries()) {
    if (index % 2 === 0) rmSync(file);
    else writeFileSync(file, 'not a list');
  }
  const { status, body } = await ask('/pages?from=2026-03-01&to=2026-03-01');
  t.equal(status, 200);
  t.strictSame(body.pages, first.pages);
});

t.test('a load is seen at once', async (t) => {
  const { body: before } = await ask(`/pages?${MARCH}`);
  await load({ page_daily: facts('date url country', ['2026-03-01', url('/new'), 'usa', 1000, 1000, 0]) });
  const { body } = await ask(`/pages?${MARCH}&limit=1`);
  t.match(body.pages, [{ url: url('/new'), clicks: 1000 }]);
  t.ok(body.source.fetchedAt >= before.source.fetchedAt);
});
