// The queries endpoint lists up to 100,000 queries of a project, and says which are tracked or branded.
import { join } from 'node:path';
import t from 'tap';
import { loadSnapshot } from '../../server/load/load.ts';
import { writeParquet } from '../parquet.ts';
import { facts, keyword, makeWorld, PROJECT, refusedFor, temporaryFolder } from '../world.ts';

const { ask, get, settings, catalog } = await makeWorld(t, {
  projects: [
    { ...PROJECT, brand_terms: ['Acme', 'ÉTÉ'] },
    { ...PROJECT, id: 'NoBrd', brand_terms: [] },
    { ...PROJECT, id: 'NoSrc' },
    { ...PROJECT, id: 'Pages' },
    { ...PROJECT, id: 'Large' },
  ],
  keywords: [
    keyword('kwLow', 'red shoes'),
    // of two keywords that differ only by case, the first one in byte order counts: upper case is before lower case
    keyword('kwUpp', 'Red Shoes'),
    keyword('kwAcc', 'CAFÉ'),
    keyword('kwArc', 'acme boots', { archived: true }),
  ],
  query_daily: [
    ...facts(
      'date query country',
      ['2026-03-01', 'red shoes', 'usa', 5, 10, 5],
      ['2026-03-02', 'red shoes', 'gbr', 4, 10, 5],
      ['2026-03-01', 'ACME boots', 'usa', 3, 10, 0],
      ['2026-03-01', 'cafÉ', 'usa', 3, 9, 0],
      ['2026-03-01', 'new red shoes', 'usa', 2, 8, 0],
      ['2026-03-01', 'cheapacmes', 'usa', 2, 7, 0],
      ['2026-03-01', 'été sale', 'usa', 2, 6, 0],
      // equal except for their texts, whose UTF-16 order differs
      ['2026-03-01', '\u{1f40d}', 'usa', 1, 1, 0],
      ['2026-03-01', '\uff21', 'usa', 1, 1, 0],
      ['2026-03-01', 'b', 'usa', 1, 1, 0],
      ['2026-03-01', 'B', 'usa', 1, 1, 0],
      ['2026-03-01', 'ac me', 'usa', 0, 0, 0],
    ),
    {
      project_id: 'NoBrd',
      date: '2026-03-01',
      query: 'acme',
      country: 'usa',
      clicks: 1,
      impressions: 1,
      sum_position: 0,
    },
  ],
  page_daily: [
    {
      project_id: 'Pages',
      date: '2026-03-01',
      url: 'https://shop.example/',
      country: 'usa',
      clicks: 1,
      impressions: 1,
      sum_position: 0,
    },
  ],
});

const MARCH = 'from=2026-03-01&to=2026-03-05';

t.test('every query, tracked or not, branded or not', async (t) => {
  const { status, body } = await ask(`/queries?${MARCH}`);
  t.equal(status, 200);
  const { fetchedAt, ...source } = body.source;
  t.type(fetchedAt, 'string');
  const one = { clicks: 1, impressions: 1, ctr: 1, position: 1, branded: false, trackedKeywordId: null };
  t.strictSame(
    { ...body, source },
    {
      project: { id: 'Proj1', domain: 'shop.example' },
      range: { from: '2026-03-01', to: '2026-03-05', country: null },
      source: { kind: 'bigquery', truncated: false, capped: false },
      paging: { total: 11, limit: 1000, offset: 0 },
      queries: [
        {
          query: 'red shoes',
          clicks: 9,
          impressions: 20,
          ctr: 0.45,
          position: 1.5,
          branded: false,
          trackedKeywordId: 'kwUpp',
        },
        // its keyword is archived
        {
          query: 'ACME boots',
          clicks: 3,
          impressions: 10,
          ctr: 0.3,
          position: 1,
          branded: true,
          trackedKeywordId: null,
        },
        {
          query: 'cafÉ',
          clicks: 3,
          impressions: 9,
          ctr: 0.3333,
          position: 1,
          branded: false,
          trackedKeywordId: 'kwAcc',
        },
        // a keyword is a whole query, a brand term a part of one
        {
          query: 'new red shoes',
          clicks: 2,
          impressions: 8,
          ctr: 0.25,
          position: 1,
          branded: false,
          trackedKeywordId: null,
        },
        {
          query: 'cheapacmes',
          clicks: 2,
          impressions: 7,
          ctr: 0.2857,
          position: 1,
          branded: true,
          trackedKeywordId: null,
        },
        {
          query: 'été sale',
          clicks: 2,
          impressions: 6,
          ctr: 0.3333,
          position: 1,
          branded: true,
          trackedKeywordId: null,
        },
        { query: 'B', ...one },
        { query: 'b', ...one },
        { query: '\uff21', ...one },
        { query: '\u{1f40d}', ...one },
        {
          query: 'ac me',
          clicks: 0,
          impressions: 0,
          ctr: null,
          position: null,
          branded: false,
          trackedKeywordId: null,
        },
      ],
    },
  );
});

t.test('one country, and a page of the list', async (t) => {
  const { body } = await ask(`/queries?${MARCH}&country=Gbr`);
  t.equal(body.range.country, 'gbr');
  t.strictSame(body.queries, [
    {
      query: 'red shoes',
      clicks: 4,
      impressions: 10,
      ctr: 0.4,
      position: 1.5,
      branded: false,
      trackedKeywordId: 'kwUpp',
    },
  ]);
  const page = await ask(`/queries?${MARCH}&limit=2&offset=1`);
  t.strictSame(page.body.paging, { total: 11, limit: 2, offset: 1 });
  t.match(page.body.queries, [{ query: 'ACME boots' }, { query: 'cafÉ' }]);
  t.equal(page.body.queries.length, 2);
  const past = await ask(`/queries?${MARCH}&offset=11`);
  t.equal(past.status, 200);
  t.strictSame(past.body.queries, []);
});

t.test('a project without brand terms has no branded queries', async (t) => {
  const { body } = await get('/projects/NoBrd/queries');
  t.match(body.queries, [{ query: 'acme', branded: false, trackedKeywordId: null }]);
});

t.test('a project without a source of queries; it may have pages', async (t) => {
  // A table that was never loaded is unknown, not empty.
  for (const project of ['NoSrc', 'Pages']) {
    const { status, headers, body } = await get(`/projects/${project}/queries`);
    t.strictSame([status, headers['retry-after'], body.error?.code], [503, '60', 'unavailable'], project);
    t.match(body.error.message, /no source of queries/, project);
  }
  t.equal((await get('/projects/Pages/pages')).status, 200);
  t.equal((await get('/projects/NoBrd/queries')).status, 200);
  t.equal((await get('/projects/NoBrd/pages')).status, 503);
});

t.test('invalid parameters', async (t) => {
  for (const limit of ['0', '25001', 'ten']) refusedFor(t, await ask(`/queries?limit=${limit}`), 'limit', limit);
  t.equal((await ask('/queries?limit=25000')).status, 200);
  refusedFor(t, await ask('/queries?offset=-1'), 'offset');
  refusedFor(t, await ask('/queries?country=england'), 'country');
  refusedFor(t, await ask('/queries?to=2026-03-15'), 'to');
  refusedFor(t, await ask('/queries?from=2026-03-05&to=2026-03-04'), 'from');
  refusedFor(t, await ask('/queries?from=2026-03-05&period=1m'), 'period');
});

t.test('a list holds 100,000 rows and reports when there were more', async (t) => {
  const folder = temporaryFolder(t);
  // 99,999 queries on the first day, one more on each of the next two
  await writeParquet(
    join(folder, 'query_daily.parquet'),
    `select 'Large' as project_id, date '2026-03-01' + greatest(0, n - 99999)::integer as date, 'query ' || n as query,
      'usa' as country, 200000 - n as clicks, 200000 as impressions, 0 as sum_position from range(1, 100002) t (n)`,
  );
  await loadSnapshot({ settings, catalog }, { folder });
  const list = async (to: string, page: string) => {
    const { body } = await get(`/projects/Large/queries?from=2026-03-01&to=${to}&${page}`);
    const { truncated, capped } = body.source;
    return { total: body.paging.total, truncated, capped, last: body.queries.at(-1)?.query };
  };
  const end = 'limit=25000&offset=75000';
  t.strictSame(await list('2026-03-01', end), { total: 99_999, truncated: false, capped: false, last: 'query 99999' });
  t.strictSame(await list('2026-03-02', end), { total: 100_000, truncated: false, capped: true, last: 'query 100000' });
  t.strictSame(await list('2026-03-03', end), { total: 100_000, truncated: true, capped: true, last: 'query 100000' });
  t.strictSame((await list('2026-03-03', 'offset=100000')).last, undefined, 'what is cut off cannot be read');
  t.strictSame((await list('2026-03-03', 'limit=1&offset=99999')).last, 'query 100000');
});
