// Reports about AI answers are imported exactly, stay apart from clicks and impressions, or are rejected by name.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import t, { type Test } from 'tap';
import { command } from '../command.ts';
import { facts, makeWorld, PROJECT, type Row, temporaryFolder, type World } from '../world.ts';

const PROPERTY = 'sc-domain:shop.example';

function folderWith(t: Test, files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function zipWith(t: Test, files: Readonly<Record<string, string>>): string {
  const path = join(temporaryFolder(t), 'export.zip');
  const entries = Object.entries(files).map(([file, text]) => [file, Buffer.from(text)]);
  writeFileSync(path, zipSync(Object.fromEntries(entries) as Record<string, Buffer>));
  return path;
}

async function imported(world: World, path: string, ...options: readonly string[]) {
  const words = ['ai-report', path, '--workspace', 'acme', '--property', PROPERTY, '--json', ...options];
  const { code, stdout, stderr } = await command({ ORDINATE_DATA: world.dataFolder }, 'import', ...words);
  return { code, stderr, summary: stdout === '' ? undefined : (JSON.parse(stdout) as Row & { files: Row[] }) };
}

/** As the user interface of Search Console exports it. */
const GOOGLE = {
  'Chart.csv': '\uFEFFDate,Impressions\n2026-03-08,10\n2026-03-09,"1,180"\n2026-03-10,0\n',
  'Pages.csv': 'Top pages,Impressions\nhttps://shop.example/a,900\nhttps://shop.example/b,40\n',
  'Countries.csv': 'Country,Impressions\nGermany,700\n',
  'Devices.csv': 'Device,Impressions\nDesktop,300\n',
  'Filters.csv': 'Filter,Value\nSearch type,Web\nDate,Last 28 days\n',
};
/** As Bing Webmaster Tools exports them. */
const BING_DAYS =
  '\uFEFF"Date","Citations","Cited Pages"\r\n"3/9/2026 12:00:00 AM","12","4"\r\n"3/10/2026 12:00:00 AM","3","2"\r\n';
const BING_PAGES = '"Page","Citations"\n"https://shop.example/b","9"\n"https://shop.example/c","2"\n';
const BING_QUERIES =
  '"Grounding Query","Intent","Topic","Citations","Citation Share"\n"red shoes","x","y","5","12.5%"\n';

const DAYS = 'from=2026-03-08&to=2026-03-10';
const newWorld = (t: Test) => makeWorld(t, { site_daily: facts('date device', ['2026-03-09', 'mobile', 5, 100, 300]) });
const raw = async ({ app, key }: World, path: string): Promise<string> =>
  (await app.inject({ url: `/api/v1/projects/Proj1${path}`, headers: { authorization: `Bearer ${key}` } })).payload;
const answer = async (world: World, path: string) =>
  (await world.ask(path)).body as Row & { totals: Row; rows: Row[]; surfaces: Row[] };

t.test("Google's report: days and pages of its range, beside web and never in it", async (t) => {
  const world = await newWorld(t);
  const before = await raw(world, `/site?${DAYS}`);
  t.strictSame((await answer(world, `/ai?${DAYS}`)).totals, { aiImpressions: null, citations: null });
  const { code, summary, stderr } = await imported(world, zipWith(t, GOOGLE));
  t.equal(code, 0, stderr);
  const files = summary!.files.map(({ file, storedAs, rows, from, to }) => [file, storedAs, rows, from, to]);
  t.match(
    files.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
    [
      ['Chart.csv', 'ai_daily', 3, '2026-03-08', '2026-03-10'],
      ['Countries.csv', null, 0],
      ['Devices.csv', null, 0],
      ['Filters.csv', null, 0],
      ['Pages.csv', 'ai_page_period', 2, '2026-03-08', '2026-03-10'],
    ],
  );
  const days = await answer(world, `/ai?${DAYS}`);
  t.strictSame(days.totals, { aiImpressions: 1190, citations: null });
  t.strictSame(
    days.rows,
    [10, 1180, 0].map((aiImpressions, index) => ({
      date: ['2026-03-08', '2026-03-09', '2026-03-10'][index],
      page: null,
      aiImpressions,
      citations: null,
    })),
  );
  const pages = await answer(world, `/ai?${DAYS}&by=page`);
  t.strictSame(pages['lists'], [{ engine: 'google', from: '2026-03-08', to: '2026-03-10' }]);
  t.match(pages.rows, [
    { page: 'https://shop.example/a', aiImpressions: 900 },
    { page: 'https://shop.example/b', aiImpressions: 40 },
  ]);
  t.match(await answer(world, '/ai?from=2026-03-09&to=2026-03-10&by=page'), { lists: [], rows: [] }, 'not of its days');
  t.equal(await raw(world, `/site?${DAYS}`), before);
  const surfaces = await answer(world, `/surfaces?${DAYS}&compare=previous`);
  t.match(surfaces, { totals: { clicks: 5 }, surfaces: [{ type: 'web', clicks: 5 }, Object] });
  t.strictSame(surfaces.surfaces[1], {
    engine: 'google',
    type: 'ai',
    grain: 'day',
    firstDay: '2026-03-08',
    lastDay: '2026-03-10',
    provisionalAfter: null,
    clicks: null,
    impressions: null,
    ctr: null,
    position: null,
    aiImpressions: 1190,
    stale: false,
  });
});

t.test("Bing's report: its dates, pages of a named range, and no queries; both reports side by side", async (t) => {
  const world = await newWorld(t);
  await imported(world, zipWith(t, GOOGLE));
  const range = ['--from', '2026-03-08', '--to', '2026-03-10'];
  const folder = folderWith(t, { 'overview.csv': BING_DAYS, 'pages.csv': BING_PAGES, 'queries.csv': BING_QUERIES });
  const unnamed = await imported(world, folder);
  t.match(
    unnamed.summary!.files.find(({ file }) => file === 'pages.csv'),
    { storedAs: null, remark: /--from and --to/ },
  );
  const named = await imported(world, folder, ...range);
  t.equal(named.code, 0, named.stderr);
  t.match(
    named.summary!.files.find(({ file }) => file === 'overview.csv'),
    { storedAs: 'citation_daily', remark: /not read: Cited Pages/ },
  );
  t.match(await answer(world, `/ai?${DAYS}`), {
    totals: { aiImpressions: 1190, citations: 15 },
    rows: [{ citations: null }, { aiImpressions: 1180, citations: 12 }, { citations: 3 }],
  });
  const csv = await raw(world, `/ai.csv?${DAYS}&by=page`);
  t.strictSame(csv.trim().split('\r\n'), [
    'date,page,aiImpressions,citations',
    ',https://shop.example/a,900,',
    ',https://shop.example/b,40,9',
    ',https://shop.example/c,,2',
  ]);
  t.match(await raw(world, `/surfaces.csv?${DAYS}`), /bing,ai,day,2026-03-09,2026-03-10,,,,,,,15,false\r\n$/);
});

t.test('the same days are replaced; others stay', async (t) => {
  const world = await newWorld(t);
  await imported(world, zipWith(t, GOOGLE));
  const newer = {
    'Chart.csv': 'Date,Impressions\n2026-03-09,7\n',
    'Pages.csv': 'Page,Impressions\nhttps://shop.example/z,7\n',
  };
  const twice = [await imported(world, zipWith(t, newer)), await imported(world, zipWith(t, newer))];
  t.ok(twice.every(({ code }) => code === 0));
  t.match((await answer(world, `/ai?${DAYS}`)).rows, [
    { aiImpressions: 10 },
    { aiImpressions: 7 },
    { aiImpressions: 0 },
  ]);
  // The longest list from the first day on, and none that has a day in common with it.
  t.match(await answer(world, `/ai?${DAYS}&by=page`), { lists: [{ from: '2026-03-08', to: '2026-03-10' }] });
  t.match((await answer(world, '/ai?from=2026-03-09&to=2026-03-09&by=page')).rows, [
    { page: 'https://shop.example/z' },
  ]);
});

t.test('other headers are named; pages of single days are added up', async (t) => {
  const world = await newWorld(t);
  const text = 'Tag;Adresse;Zitate\n2026-03-08;https://shop.example/a;1\n2026-03-09;https://shop.example/a;2\n';
  const path = join(folderWith(t, { 'a.csv': text }), 'a.csv');
  const refused = await imported(world, path);
  t.equal(refused.code, 1);
  t.match(
    refused.stderr,
    /'a\.csv' has the header 'Tag, Adresse, Zitate'.*Bing's 'Date' or 'Page' with 'Citations'.*--columns/,
  );
  const named = await imported(world, path, '--columns', 'date=Tag,page=Adresse,citations=Zitate');
  t.equal(named.code, 0, named.stderr);
  t.match(await answer(world, `/ai?${DAYS}&by=page`), {
    lists: [{ engine: 'bing', from: '2026-03-08', to: '2026-03-08' }, { from: '2026-03-09' }],
    rows: [{ page: 'https://shop.example/a', citations: 3, aiImpressions: null }],
  });
  t.match((await imported(world, path, '--columns', 'date=Tag,citations=Zahl')).stderr, /has the header/);
  t.match((await imported(world, path, '--columns', 'day=Tag')).stderr, /with the names date, page, ai_impressions/);
});

t.test('what is wrong is named, and nothing is stored', async (t) => {
  const world = await newWorld(t);
  const refusals: readonly [files: Readonly<Record<string, string>>, message: RegExp][] = [
    [{ 'Chart.csv': 'Date,Impressions\n03/09/2026,1\n' }, /wrong value in 'Date', the first '03\/09\/2026'/],
    [{ 'Chart.csv': 'Date,Impressions\n2026-02-30,1\n' }, /wrong value in 'Date'/],
    [
      { 'Chart.csv': 'Date,Impressions\n2026-03-09,-1\n' },
      /wrong value in 'Impressions', the first '-1'; it must be a whole/,
    ],
    [{ 'Chart.csv': 'Date,Impressions\n2026-03-09,\n' }, /wrong value in 'Impressions'/],
    [{ 'Chart.csv': 'Date,Impressions\n2026-03-09,1\n2026-03-09,2\n' }, /2 rows of/],
    [{ 'Chart.csv': 'Date,Impressions\n2026-03-02,1\n2026-03-09,2\n2026-03-16,3\n' }, /its rows are weeks/],
    [{ 'Chart.csv': 'Date,Clicks,Impressions\n2026-03-09,1,2\n' }, /import search-console/],
    [{ 'Chart.csv': 'Date,Impressions,Citations\n2026-03-09,1,2\n' }, /no report about AI answers/],
    [
      { 'Pages.csv': 'Page,Impressions\nhttps://other.example/,1\n', 'Chart.csv': GOOGLE['Chart.csv'] },
      /not of 'sc-domain:shop/,
    ],
    [{ 'Pages.csv': 'Page,Impressions\njavascript:alert(1),1\n' }, /wrong value in 'Page'/],
    [{ ...GOOGLE, 'Filters.csv': 'Filter,Value\nPage,/blog\n' }, /filter 'Page: \/blog'/],
    [{ 'a/Chart.csv': GOOGLE['Chart.csv'], 'b/Chart.csv': 'Date,Impressions\n2026-03-10,1\n' }, /same days/],
    [{ 'Chart.csv': 'Date,Impressions\n"2026-03-09,1\n' }, /./],
    [{ 'Chart.csv': 'Date\0,Impressions\n' }, /UTF-16/],
    [{ 'Chart.csv': '' }, /no header/],
    [{ 'Chart.csv': 'Date,Impressions\n' }, /no rows/],
    [
      { 'Chart.csv': 'Date,Country,Impressions\n2026-03-09,deu,1\n' },
      /column 'Country' \(such as 'deu'\), which is not/,
    ],
    [{ 'Chart.csv': 'Date,search_type,Impressions\n2026-03-09,image,1\n' }, /column 'search_type' \(such as 'image'\)/],
    [{ 'Chart.csv': 'Date,site,Impressions\n2026-03-09,https://o.example/,1\n' }, /in 'site', not of 'sc-domain:shop/],
  ];
  for (const [files, message] of refusals) {
    const { code, stderr } = await imported(world, folderWith(t, files));
    t.equal(code, 1, JSON.stringify(files));
    t.match(stderr, message);
  }
  const unknown = ['ai-report', zipWith(t, GOOGLE), '--workspace', 'acme', '--property', 'sc-domain:none.example'];
  t.match((await command({ ORDINATE_DATA: world.dataFolder }, 'import', ...unknown)).stderr, /no project of/);
  t.strictSame((await answer(world, `/ai?${DAYS}`)).rows, []);
});

t.test('a snapshot carries the report like other facts', async (t) => {
  const period = {
    project_id: 'Proj1',
    first_day: '2026-03-08',
    last_day: '2026-03-10',
    url: 'https://shop.example/a',
  };
  const world = await makeWorld(t, {
    projects: [PROJECT],
    ai_daily: [{ project_id: 'Proj1', date: '2026-03-09', ai_impressions: 4 }],
    citation_page_period: [{ ...period, citations: 6 }],
  });
  t.match(await answer(world, `/ai?${DAYS}`), { totals: { aiImpressions: 4, citations: null } });
  const out = join(temporaryFolder(t), 'out');
  t.equal((await command({ ORDINATE_DATA: world.dataFolder }, 'export', '--out', out, '--workspace', 'acme')).code, 0);
  const other = await makeWorld(t, {});
  t.equal((await command({ ORDINATE_DATA: other.dataFolder }, 'load', out)).code, 0);
  t.match((await answer(other, `/ai?${DAYS}&by=page`)).rows, [{ page: 'https://shop.example/a', citations: 6 }]);
});
