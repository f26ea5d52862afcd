// A bulk export of the provider is imported with exact sums, once or repeatedly.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ImportOptions, type ImportSummary, importBulkExport } from '../../server/load/bulk-export.ts';
import { command } from '../command.ts';
import { writeParquet, writeParquetRows } from '../parquet.ts';
import { keyword, type LazyWorld, makeLazyWorld, PROJECT, type Row, temporaryFolder, WORKSPACE } from '../world.ts';

const REAL = join(import.meta.dirname, '../../../shared/realdata/bulk-export-url-impression.parquet');
const PROPERTY = 'sc-domain:shop.example';
const TYPES = { query: 'VARCHAR', country: 'VARCHAR', is_anonymized_query: 'BOOLEAN' };

/** A row of the table by page. A query of null is an anonymised one. */
function byPage(
  [day, device, country, url, query]: readonly [string, string, string, string, string | null],
  [clicks, impressions, sum_position]: readonly [number, number, number],
  more: Row = {},
): Row {
  return {
    data_date: day,
    site_url: PROPERTY,
    url: `https://shop.example${url}`,
    query,
    is_anonymized_query: query === null,
    is_anonymized_discover: false,
    country,
    search_type: 'WEB',
    device,
    is_video: false,
    is_page_experience: false,
    impressions,
    clicks,
    sum_position,
    ...more,
  };
}

/** A row of the table by property. */
function byProperty(
  [day, device, country, query]: readonly [string, string, string, string | null],
  [clicks, impressions, sum_top_position]: readonly [number, number, number],
  more: Row = {},
): Row {
  return {
    data_date: day,
    site_url: PROPERTY,
    query,
    is_anonymized_query: query === null,
    country,
    search_type: 'WEB',
    device,
    impressions,
    clicks,
    sum_top_position,
    ...more,
  };
}

/** Writes the files of an export, by name; returns their folder. */
async function exportOf(
  t: Test,
  files: Readonly<Record<string, readonly Row[]>>,
  types: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = temporaryFolder(t);
  for (const [name, rows] of Object.entries(files)) {
    await writeParquetRows(join(folder, `${name}.parquet`), rows, { ...TYPES, ...types });
  }
  return folder;
}

interface Imports extends LazyWorld {
  readonly bring: (path: string | string[], options?: Partial<ImportOptions>) => Promise<ImportSummary>;
  /** Asks about the project of the property. */
  readonly askIt: (path: string) => Promise<Awaited<ReturnType<LazyWorld['get']>>['body']>;
}

/** A world with a workspace that has no project yet; another workspace has one of the same property. */
async function makeImports(t: Test): Promise<Imports> {
  const world = await makeLazyWorld(t, {
    workspaces: [WORKSPACE, { ...WORKSPACE, id: 'beta' }],
    projects: [{ ...PROJECT, workspace_id: 'beta' }],
  });
  const { settings, catalog, get } = world;
  let project = '';
  return {
    ...world,
    bring: async (path, options = {}) => {
      const paths = typeof path === 'string' ? [path] : path;
      const summary = await importBulkExport(
        { settings, catalog },
        { paths, workspace: 'acme', property: PROPERTY, ...options },
      );
      project = summary.project.id;
      return summary;
    },
    askIt: async (path) => {
      const { status, body } = await get(`/projects/${project}${path}`);
      t.equal(status, 200, path);
      return body as unknown;
    },
  };
}

const RANGE = 'from=2026-03-01&to=2026-03-10';

t.test('the table by page alone: repeated keys are summed, anonymised rows count for the site only', async (t) => {
  const { bring, askIt, get } = await makeImports(t);
  const folder = await exportOf(t, {
    searchdata_url_impression: [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'Acme shoes'], [1, 10, 0]),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'Acme shoes'], [2, 20, 30]),
      byPage(['2026-03-01', 'MOBILE', 'usa', '/a', 'boots'], [1, 4, 4]),
      byPage(['2026-03-02', 'MOBILE', 'deu', '/b', 'boots'], [0, 6, 26], { search_type: 'web' }),
      byPage(['2026-03-02', 'TABLET', 'deu', '/b', null], [5, 50, 500]),
      // An anonymised query can be an empty text, too.
      byPage(['2026-03-02', 'TABLET', 'deu', '/b', null], [1, 10, 0], { query: '' }),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'acme photo'], [9, 90, 0], { search_type: 'IMAGE' }),
      byPage(['2026-03-03', 'MOBILE', 'usa', '/a', null], [9, 90, 0], { search_type: 'DISCOVER' }),
    ],
  });
  const summary = await bring(folder, { brandTerms: ['ACME'] });
  t.match(summary, {
    loaded: true,
    project: { id: /^[A-Za-z0-9]{5}$/, domain: 'shop.example', property: PROPERTY, created: true },
    keywordsAdded: 0,
    warnings: [],
  });
  t.match((await get('/projects')).body.projects, [
    {
      id: summary.project.id,
      domain: 'shop.example',
      property: PROPERTY,
      syncStatus: 'ok',
      syncedThrough: '2026-03-02',
    },
  ]);

  const site = await askIt(`/site?${RANGE}`);
  t.strictSame(site.daily, [
    { date: '2026-03-01', clicks: 4, impressions: 34, ctr: 0.1176, position: 2 },
    { date: '2026-03-02', clicks: 6, impressions: 66, ctr: 0.0909, position: 9 },
  ]);
  const { countries, devices, appearances, brand } = await askIt(`/breakdowns?${RANGE}`);
  t.match(countries, [
    { country: 'deu', clicks: 6, impressions: 66 },
    { country: 'usa', clicks: 4, impressions: 34 },
  ]);
  t.match(devices, [
    { device: 'tablet', clicks: 6, impressions: 60 },
    { device: 'desktop', clicks: 3, impressions: 30, position: 2 },
    { device: 'mobile', clicks: 1, impressions: 10, position: 4 },
  ]);
  t.strictSame(appearances, []);
  t.match(brand, {
    brand: { clicks: 3, impressions: 30 },
    nonBrand: { clicks: 1, impressions: 10 },
    anonymous: { clicks: 6, impressions: 60 },
  });
  const queries = await askIt(`/queries?${RANGE}`);
  t.match(queries.source, { kind: 'bigquery', truncated: false });
  t.strictSame(queries.queries, [
    {
      query: 'Acme shoes',
      clicks: 3,
      impressions: 30,
      ctr: 0.1,
      position: 2,
      branded: true,
      trackedKeywordId: null,
    },
    { query: 'boots', clicks: 1, impressions: 10, ctr: 0.1, position: 4, branded: false, trackedKeywordId: null },
  ]);
  const { pages } = await askIt(`/pages?${RANGE}`);
  t.strictSame(pages, [
    { url: 'https://shop.example/b', clicks: 6, impressions: 66, ctr: 0.0909, position: 9 },
    { url: 'https://shop.example/a', clicks: 4, impressions: 34, ctr: 0.1176, position: 2 },
  ]);
});

t.test('both tables: all but pages and appearances come from the table by property', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const folder = await exportOf(t, {
    'searchdata_site_impression/part': [
      byProperty(['2026-03-01', 'DESKTOP', 'usa', 'boots'], [3, 10, 10]),
      byProperty(['2026-03-01', 'MOBILE', 'usa', null], [1, 10, 0]),
      byProperty(['2026-03-01', 'MOBILE', 'usa', 'boots'], [9, 90, 0], { search_type: 'VIDEO' }),
    ],
    // Two pages on one screen count once for the property, and twice by page.
    'searchdata_url_impression/part': [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'boots'], [3, 10, 10], { is_video: true }),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/b', 'boots'], [0, 10, 20]),
      byPage(['2026-03-01', 'MOBILE', 'usa', '/a', null], [1, 10, 0]),
    ],
  });
  await bring(folder);
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 4, impressions: 20, position: 1.5 });
  t.match((await askIt(`/queries?${RANGE}`)).queries, [{ query: 'boots', clicks: 3, impressions: 10, position: 2 }]);
  t.match((await askIt(`/pages?${RANGE}`)).pages, [
    { url: 'https://shop.example/a', clicks: 4, impressions: 20 },
    { url: 'https://shop.example/b', clicks: 0, impressions: 10, position: 3 },
  ]);
  const { appearances, countries } = await askIt(`/breakdowns?${RANGE}`);
  t.match(appearances, [{ appearance: 'VIDEO', clicks: 3, impressions: 10, position: 2 }]);
  t.match(countries, [{ country: 'usa', clicks: 4, impressions: 20 }]);
});

t.test('flags are appearances; they overlap, and files of later days have new ones', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const both = { is_video: true, is_product_snippets: true, is_page_experience: true };
  const folder = await exportOf(t, {
    old: [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0], both),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/b', 'x'], [2, 20, 0], { ...both, is_video: false }),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/c', null], [4, 40, 0], { is_product_snippets: false }),
    ],
    'newer/new': [
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', null], [8, 80, 80], {
        is_brand_new_thing: true,
        is_anonymized_discover: true,
      }),
    ],
  });
  const one = await exportOf(t, {
    third: [byPage(['2026-03-03', 'DESKTOP', 'usa', '/a', 'x'], [1, 1, 0], { is_video: true, search_type: 'IMAGE' })],
  });
  await bring([folder, join(one, 'third.parquet')]);
  const { appearances } = await askIt(`/breakdowns?${RANGE}`);
  t.strictSame(appearances, [
    { appearance: 'BRAND_NEW_THING', clicks: 8, impressions: 80, ctr: 0.1, position: 2 },
    { appearance: 'PRODUCT_SNIPPETS', clicks: 3, impressions: 30, ctr: 0.1, position: 1 },
    { appearance: 'VIDEO', clicks: 1, impressions: 10, ctr: 0.1, position: 1 },
  ]);
});

t.test('an export without any flag has no appearances', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const {
    is_video: _,
    is_page_experience: __,
    ...row
  } = byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0]);
  await bring(await exportOf(t, { part: [row] }));
  t.match(await askIt(`/breakdowns?${RANGE}`), { appearances: [], countries: [{ clicks: 1 }] });
});

t.test('days are dates or times', async (t) => {
  const { bring, askIt } = await makeImports(t);
  for (const [index, type] of ['timestamp', 'timestamp_ns', 'date'].entries()) {
    const rows = [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1 + index, 10, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'x'], [2 + index, 20, 0]),
    ];
    await bring(await exportOf(t, { part: rows }, { data_date: type }));
    t.match((await askIt(`/site?${RANGE}`)).daily, [
      { date: '2026-03-01', clicks: 1 + index },
      { date: '2026-03-02', clicks: 2 + index },
    ]);
    t.match((await askIt(`/pages?${RANGE}`)).pages, [{ clicks: 3 + 2 * index }], type);
  }
});

t.test('several properties: the named one is kept', async (t) => {
  const { bring, askIt, get } = await makeImports(t);
  const other = { site_url: 'https://blog.example/' };
  const folder = await exportOf(t, {
    part: [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0], { is_video: true }),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [2, 20, 0], { ...other, is_video: true }),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'x'], [2, 20, 0], other),
    ],
  });
  await t.rejects(bring(folder, { property: 'sc-domain:third.example' }), {
    message: /https:\/\/blog\.example\/.*sc-domain:shop\.example/,
  });
  t.strictSame((await get('/projects')).body.projects, []);

  await bring(folder);
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 1 });
  t.match((await askIt(`/breakdowns?${RANGE}`)).appearances, [{ clicks: 1 }]);
  t.match((await askIt(`/pages?${RANGE}`)).pages, [{ clicks: 1 }]);
  const { project } = await bring(folder, { property: other.site_url });
  t.match(project, { created: true, domain: 'blog.example' });
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 4 });
  t.equal((await get('/projects')).body.projects.length, 2);
});

t.test('a property that the export does not name is refused, unless it is forced', async (t) => {
  const { bring, askIt, get } = await makeImports(t);
  const folder = await exportOf(t, { part: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0])] });
  const property = 'https://shop.example/';
  await t.rejects(bring(folder, { property }), {
    message:
      /name the property 'sc-domain:shop\.example', not 'https:\/\/shop\.example\/'.*--property sc-domain:shop\.example.*--force/,
  });
  t.strictSame((await get('/projects')).body.projects, []);
  const { warnings } = await bring(folder, { property, force: true });
  t.match(warnings, [/'sc-domain:shop\.example', not 'https/]);
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 1 });

  const nameless = await exportOf(
    t,
    {
      part: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [2, 10, 0], { site_url: null })],
    },
    { site_url: 'VARCHAR' },
  );
  await t.rejects(bring(nameless), { message: /name no property, not 'sc-domain:shop\.example': add --force/ });
  await bring(nameless, { force: true });
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 2 });
});

t.test('a dry run says what an import would do, and what it is made of', async (t) => {
  const world = await makeImports(t);
  const { bring, get, dataFolder } = world;
  const folder = await exportOf(t, {
    'odd [1]*/part': [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0]),
      // The provider has such rows now and then.
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'x'], [3, 2, 0]),
      ...['IMAGE', 'image', 'DISCOVER', 'LENS'].map((search_type) =>
        byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0], { search_type }),
      ),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0], {
        search_type: 'NEWS',
        site_url: 'https://b.example/',
      }),
    ],
  });
  const dry = await bring(folder, { dryRun: true, trackTop: 1 });
  t.match(dry, {
    loaded: false,
    project: { created: true },
    keywordsAdded: 1,
    siteTotals: 'page',
    otherSearchTypes: { LENS: 1 },
    tables: {
      site_daily: { rows: 2, firstDay: '2026-03-01', lastDay: '2026-03-02' },
      site_daily_image: { rows: 1, firstDay: '2026-03-01' },
      site_daily_discover: { rows: 1 },
    },
    warnings: [/1 row with more clicks than impressions/],
  });
  t.notOk('NEWS' in dry.otherSearchTypes, 'rows of other properties are not ours');
  t.strictSame((await get('/projects')).body.projects, []);

  const words = ['import', 'bulk-export', folder, '--workspace', 'acme', '--property', PROPERTY];
  const printed = await command({ ORDINATE_DATA: dataFolder }, ...words, '--dry-run');
  t.match(printed, { code: 0, stderr: '' });
  t.match(printed.stdout, /Site totals are computed from rows by page/);
  t.match(printed.stdout, /1 row of search types that are not known left out: LENS 1\./);
  t.match(printed.stdout, /nothing was loaded \(dry run\).*Project \w{5} would be created; 0 keywords added/s);
  t.strictSame((await get('/projects')).body.projects, []);
  t.match(await command({ ORDINATE_DATA: dataFolder }, ...words.slice(0, -1), 'https://other.example/'), {
    code: 1,
    stdout: '',
    stderr: /none of which|--force/,
  });

  const both = await exportOf(t, {
    site: [byProperty(['2026-03-01', 'DESKTOP', 'usa', 'x'], [1, 10, 0])],
    url: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0])],
  });
  t.match(await bring(both), { loaded: true, siteTotals: 'property', otherSearchTypes: {} });
});

t.test('search types are stored apart, and none is a part of web', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const ofSite = (search_type: string, day: string, country: string, clicks: number): Row =>
    byProperty([day, 'MOBILE', country, null], [clicks, 100, 200], { search_type });
  const ofPage = (search_type: string, day: string, clicks: number): Row =>
    byPage([day, 'DESKTOP', 'usa', '/a', null], [clicks, 50, 0], { search_type });
  const [first, last] = ['2026-03-01', '2026-03-02'];
  const folder = await exportOf(t, {
    site: [
      ofSite('web', first, 'usa', 1),
      ofSite('web', last, 'usa', 2),
      ofSite('IMAGE', first, 'usa', 4),
      ofSite('image', first, 'fra', 8),
    ],
    url: [
      ofPage('web', first, 1),
      ofPage('web', last, 2),
      ofPage('IMAGE', first, 99),
      ofPage('GOOGLE_NEWS', last, 16),
      ofPage('discover', last, 32),
    ],
  });
  const { warnings } = await bring(folder);
  t.match(warnings, [/^discover: .*counted by page/, /^googleNews: .*counted by page/]);
  const surfaces = (await askIt(`/surfaces?${RANGE}`))['surfaces'] as Row[];
  t.match(
    surfaces.map(({ type, clicks, impressions, position }) => [type, clicks, impressions, position]),
    [
      ['web', 3, 200, 3],
      ['image', 12, 200, 3],
      ['discover', 32, 50, null],
      ['googleNews', 16, 50, null],
    ],
  );
  const { countries } = await askIt(`/breakdowns?${RANGE}&type=image`);
  t.match(countries, [
    { country: 'fra', clicks: 8 },
    { country: 'usa', clicks: 4 },
  ]);
  // Another export replaces the days that it has of a type.
  const again = await exportOf(t, { site: [ofSite('web', last, 'usa', 2), ofSite('image', first, 'usa', 5)] });
  await bring(again);
  t.match((await askIt(`/site?${RANGE}&type=image`))['totals'], { clicks: 5 });
  t.match((await askIt(`/site?${RANGE}`))['totals'], { clicks: 3 });
});

t.test('importing other days keeps the days between; a day that comes again is replaced whole', async (t) => {
  const { bring, askIt, get } = await makeImports(t);
  const day = (number: number, clicks: number, query: string | null, more: Row = {}): Row =>
    byPage([`2026-03-0${number}`, 'DESKTOP', 'usa', `/${query ?? 'none'}`, query], [clicks, 100, 0], more);
  const clicksOf = async (): Promise<number[]> =>
    ((await askIt(`/site?${RANGE}`)).daily as { clicks: number }[]).map(({ clicks }) => clicks);

  const first = await exportOf(t, { part: [day(1, 1, 'a'), day(2, 2, 'a'), day(4, 4, 'a'), day(5, 5, 'b')] });
  const { project } = await bring(first, { trackTop: 1, brandTerms: ['b'] });
  t.strictSame(await clicksOf(), [1, 2, 0, 4, 5]);
  const again = await exportOf(t, { part: [day(1, 10, 'a'), day(5, 50, 'c', { is_video: true })] });
  const second = await bring(again);
  t.strictSame(second.project, { ...project, created: false });
  t.strictSame(await clicksOf(), [10, 2, 0, 4, 50]);
  t.match((await askIt(`/queries?${RANGE}`)).queries, [
    { query: 'c', clicks: 50 },
    { query: 'a', clicks: 16 },
  ]);
  t.match((await askIt(`/pages?${RANGE}`)).pages, [{ url: /\/c$/ }, { url: /\/a$/, clicks: 16 }]);
  t.equal((await get('/projects')).body.projects[0].syncedThrough, '2026-03-05');
  t.match((await askIt(`/breakdowns?${RANGE}`)).brand, { brand: { clicks: 0 }, nonBrand: { clicks: 66 } });

  // Older days than those that are there.
  await bring(await exportOf(t, { part: [day(2, 20, 'a'), day(3, 30, 'a')] }));
  t.strictSame(await clicksOf(), [10, 20, 30, 4, 50]);
  t.equal((await get('/projects')).body.projects[0].syncedThrough, '2026-03-05');
});

t.test('a day that comes again with anonymised rows only', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const keys = ['2026-03-01', 'DESKTOP', 'usa', '/a'] as const;
  await bring(await exportOf(t, { part: [byPage([...keys, 'x'], [1, 10, 0], { is_video: true })] }), { trackTop: 1 });
  t.match((await askIt(`/keywords?${RANGE}`)).keywords, [{ query: 'x', metrics: { clicks: 1 } }]);
  await bring(await exportOf(t, { part: [byPage([...keys, null], [2, 10, 0])] }));
  t.match((await askIt(`/site?${RANGE}`)).totals, { clicks: 2 });
  t.match((await askIt(`/keywords?${RANGE}`)).keywords, [{ query: 'x', metrics: { clicks: 0 } }], 'no keyword facts');
  const { appearances, brand } = await askIt(`/breakdowns?${RANGE}`);
  t.strictSame(appearances, [], 'no appearances');
  t.match(brand, { nonBrand: { clicks: 0 }, anonymous: { clicks: 2 } }, 'no brand facts');
  t.strictSame((await askIt(`/queries?${RANGE}`)).queries, [], 'no queries');
});

t.test('days of an export without rows of keywords are zeros, beside days with rows and without any', async (t) => {
  const { bring, askIt, get, load } = await makeImports(t);
  const anonymised = byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', null], [3, 10, 0]);
  const part = [anonymised, byPage(['2026-03-03', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 0])];
  const q = { range: { from: '2026-03-02', to: '2026-03-02' }, metrics: ['clicks'], dimensions: ['keyword'] };
  const question = `/query?q=${encodeURIComponent(JSON.stringify(q))}`;
  const { project } = await bring(await exportOf(t, { part: [anonymised] }));
  await load({ keywords: [keyword('Kw001', 'rare', { project_id: project.id, source: 'manual' })] });
  t.match(
    await get(`/projects/${project.id}${question}`),
    { status: 400 },
    'no keyword was tracked when it was loaded',
  );
  await bring(await exportOf(t, { part: [anonymised] }));
  t.match(await askIt(question), { rows: [], remainder: { clicks: 3 } });

  await bring(await exportOf(t, { part }), { trackTop: 1 });
  const one = 'from=2026-03-02&to=2026-03-02';
  t.match((await askIt(`/keywords?${one}`)).keywords, [{ metrics: { clicks: 0 } }, { metrics: { clicks: 0 } }]);
  t.match(await askIt(question), { rows: [] });
  const { keywords } = await askIt('/keywords?from=2026-03-03&to=2026-03-03&compare=previous');
  t.match(keywords[1], { query: 'x', metrics: { clicks: 1 }, comparison: { clicks: 0 } });
  t.strictSame(keywords[1].unsafe.clicks, ['low_base'], 'no day is missing');
});

t.test("days before the plan's history are missing, though an export had them", async (t) => {
  const { bring, askIt, load } = await makeImports(t);
  const days = ['2026-03-02', '2026-03-03', '2026-03-05', '2026-03-06'];
  const part = days.map((day) => byPage([day, 'DESKTOP', 'usa', '/a', 'x'], [20, 200, 0]));
  await bring(await exportOf(t, { part }), { trackTop: 1 });
  const path = '/keywords?from=2026-03-05&to=2026-03-06&compare=2026-03-02..2026-03-03';
  t.match((await askIt(path)).keywords, [{ change: { clicks: { difference: 0, ratio: 0 } }, unsafe: {} }]);
  await load({ workspaces: [{ ...WORKSPACE, keyword_history_days: 4 }] });
  const { range, keywords } = await askIt(path);
  t.match(range.comparison, { from: '2026-03-03', clamped: true });
  t.match(keywords, [{ change: { clicks: { difference: 20, ratio: null } }, unsafe: { clicks: ['missing_days'] } }]);
});

t.test('tracked keywords in other letter case, and --track-top', async (t) => {
  const { bring, askIt, load } = await makeImports(t);
  const folder = await exportOf(t, {
    part: [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'boots'], [5, 10, 0]),
      byPage(['2026-03-01', 'MOBILE', 'usa', '/a', 'boots'], [1, 10, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'red shoes'], [4, 10, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'hats'], [3, 10, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'caps'], [3, 9, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', 'never clicked'], [0, 10, 0]),
      byPage(['2026-03-02', 'DESKTOP', 'usa', '/a', null], [90, 100, 0]),
    ],
  });
  const { project } = await bring(folder);
  t.match((await askIt('/keywords')).keywords, []);
  await load({ keywords: [keyword('Kw001', 'Red SHOES', { project_id: project.id })] });
  const second = await bring(folder);
  t.equal(second.keywordsAdded, 0);
  t.match((await askIt(`/keywords?${RANGE}`)).keywords, [{ id: 'Kw001', query: 'Red SHOES', metrics: { clicks: 4 } }]);

  const third = await bring(folder, { trackTop: 3 });
  t.equal(third.keywordsAdded, 2, 'one of the three is tracked already');
  const { keywords } = await askIt(`/keywords?${RANGE}&daily=1`);
  t.match(keywords, [
    { query: 'Red SHOES', metrics: { clicks: 4 } },
    { query: 'boots', metrics: { clicks: 6, impressions: 20 }, daily: [{ date: '2026-03-01', clicks: 6 }] },
    { query: 'hats', metrics: { clicks: 3 } },
  ]);
  const ids = (keywords as { id: string }[]).map(({ id }) => id);
  t.equal((await bring(folder, { trackTop: 3 })).keywordsAdded, 0);
  const after = ((await askIt(`/keywords?${RANGE}`)).keywords as { id: string }[]).map(({ id }) => id);
  t.strictSame(after, ids, 'again it changes nothing');
  const { queries } = await askIt(`/queries?${RANGE}`);
  t.match(queries, [
    { query: 'boots', trackedKeywordId: ids[1] },
    { query: 'red shoes', trackedKeywordId: 'Kw001' },
    { query: 'hats' },
    { query: 'caps', trackedKeywordId: null },
    { query: 'never clicked', trackedKeywordId: null },
  ]);
  t.match((await askIt(`/keywords?${RANGE}&device=mobile`)).keywords[1], { query: 'boots', metrics: { clicks: 1 } });
});

t.test('brand terms are kept when none are given, and replaced when some are', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const folder = await exportOf(t, {
    part: [
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'ACME boots'], [1, 10, 0]),
      byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'beta boots'], [2, 10, 0]),
    ],
  });
  const brandClicks = async (): Promise<number> =>
    ((await askIt(`/breakdowns?${RANGE}`)).brand as { brand: { clicks: number } }).brand.clicks;
  await bring(folder);
  t.equal(await brandClicks(), 0);
  await bring(folder, { brandTerms: ['acme', 'gamma'] });
  t.equal(await brandClicks(), 1);
  await bring(folder);
  t.equal(await brandClicks(), 1);
  t.match((await askIt(`/queries?${RANGE}`)).queries, [{ branded: false }, { branded: true }]);
  await bring(folder, { brandTerms: ['Beta'] });
  t.equal(await brandClicks(), 2);
  await bring(folder, { brandTerms: [{ text: 'Bêta', match: 'word' }] });
  t.equal(await brandClicks(), 2);
  await bring(folder);
  t.match((await askIt(`/queries?${RANGE}`)).queries, [{ branded: true }, { branded: false }], 'whole words are kept');
  await bring(folder, { brandTerms: [{ text: 'bet', match: 'word' }] });
  t.equal(await brandClicks(), 0);
});

t.test('the same export twice gives the same answers', async (t) => {
  const { bring, askIt } = await makeImports(t);
  const folder = await exportOf(t, {
    part: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 5], { is_video: true })],
  });
  const answers = async (): Promise<unknown[]> => {
    const paths = ['/site', '/breakdowns', '/queries', '/pages', '/keywords'];
    const bodies = (await Promise.all(paths.map((path) => askIt(`${path}?${RANGE}`)))) as Row[];
    return bodies.map((body) => ({ ...body, source: null }));
  };
  await bring(folder, { trackTop: 5 });
  const before = await answers();
  await bring(folder, { trackTop: 5 });
  t.strictSame(await answers(), before);
});

t.test('what cannot be imported is refused in a sentence and leaves nothing', async (t) => {
  const { bring, get } = await makeImports(t);
  const folder = await exportOf(t, { part: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 5])] });
  const images = await exportOf(t, {
    part: [byPage(['2026-03-01', 'DESKTOP', 'usa', '/a', 'x'], [1, 10, 5], { search_type: 'IMAGE' })],
  });
  const odd = temporaryFolder(t);
  mkdirSync(join(odd, 'empty'));
  writeFileSync(join(odd, 'text.parquet'), 'data_date,query\n');
  await writeParquet(join(odd, 'other.parquet'), "select 'x' as query, 1 as clicks");

  await t.rejects(bring(folder, { workspace: 'nowhere' }), { message: /workspace 'nowhere'/ });
  for (const property of ['shop.example', 'https://shop.example', 'sc-domain:', 'ftp://shop.example/']) {
    await t.rejects(bring(folder, { property }), { message: /is not a property/ }, property);
  }
  await t.rejects(bring('/no/such/file'), { message: /'\/no\/such\/file'/ });
  await t.rejects(bring(join(odd, 'empty')), { message: /no Parquet file/ });
  await t.rejects(bring(join(odd, 'text.parquet')), { message: /text\.parquet.*Parquet/ });
  await t.rejects(bring(join(odd, 'other.parquet')), { message: /searchdata_url_impression/ });
  await t.rejects(bring(images), { message: /no rows of web searches/ });
  t.strictSame((await get('/projects')).body.projects, []);
});

t.test('the golden numbers of a real export', async (t) => {
  if (!existsSync(REAL)) {
    t.pass('not run', { skip: `there is no ${REAL}` });
    return;
  }
  const { bring, askIt } = await makeImports(t);
  await bring(REAL, { property: 'https://advertools.readthedocs.io/' });
  const month = await askIt('/site');
  t.match(month.range, { from: '2025-03-26', to: '2025-04-22' });
  t.strictSame(month.totals, { clicks: 388, impressions: 58_749, ctr: 0.0066, position: 34.8 });
  t.match((await askIt('/site?device=desktop')).totals, { clicks: 359, impressions: 41_862, position: 32.1 });
  const { devices } = await askIt('/breakdowns');
  t.match(devices[0], { device: 'desktop', clicks: 359, impressions: 41_862, position: 32.1 });
  const whole = await askIt('/site?period=486d');
  t.equal(whole.daily.length, 349);
  t.match(whole.totals, { clicks: 7598, impressions: 656_906 });
  const queries = await askIt('/queries?period=486d&limit=1');
  t.equal(queries.paging.total, 3807);
  t.match(queries.queries, [{ query: 'advertools', clicks: 1044, impressions: 12_441, position: 2.1 }]);
  t.equal((await askIt('/pages?period=486d&limit=1')).paging.total, 89);
});

t.test('columns that are not of the export are named', async (t) => {
  const { bring } = await makeImports(t);
  const more = { ranking: 'x', is_new_flag: false };
  const rows = [byPage(['2026-03-01', 'MOBILE', 'usa', '/a', 'red'], [1, 10, 20], more)];
  const { warnings } = await bring(await exportOf(t, { url: rows }));
  t.ok(warnings.includes('1 column not of the bulk export ignored: ranking.'), warnings.join());
});
