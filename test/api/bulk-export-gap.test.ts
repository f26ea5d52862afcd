// Every answer names the gap of the bulk export for days that came from one, and for no others.
import { join } from 'node:path';
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { publisherOn } from '../../server/load/publish-days.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { writeParquetRows } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import {
  facts,
  keyword,
  makeWorld,
  NOW,
  ofProject,
  PROJECT,
  type Row,
  sharedEngine,
  temporaryFolder,
} from '../world.ts';

const GAP = { from: '2026-02-28', to: '2026-03-01' };
const DAYS = eachDay('2025-11-01', '2026-03-10');
const PAGES = ['a', 'b', 'c'].map((path) => `https://shop.example/${path}`);
/** `Proj1` comes from an export, `Hole1` from one that has no rows of the gap, `Other` from elsewhere. */
const IDS = ['Proj1', 'Hole1', 'Other'];
const propertyOf = (id: string): string => `sc-domain:${id.toLowerCase()}.example`;

const clicksOn = (day: string, page: number): number => 20 + page + (Number(day.slice(-2)) % 7);
const exported = (id: string, days: readonly string[]): Row[] =>
  days.flatMap((day) =>
    PAGES.map((url, page) => ({
      ...{ data_date: day, site_url: propertyOf(id), url, query: `boots ${page}`, is_anonymized_query: false },
      ...{ country: 'usa', search_type: 'WEB', device: 'DESKTOP', is_video: true },
      ...{ impressions: 400, clicks: clicksOn(day, page), sum_position: 800 },
    })),
  );
/** The same numbers in a table of a snapshot: of each page, or of all. */
const table = (columns: string, cells: (page: number) => readonly string[]): Row[] =>
  facts(
    `date ${columns}`,
    ...DAYS.flatMap((day) => PAGES.map((_, page) => [day, ...cells(page), clicksOn(day, page), 400, 800])),
  );
const whole = (column: string, name: string, days: readonly string[] = DAYS): Row[] =>
  facts(`date ${column}`, ...days.map((day) => [day, name, 63, 1200, 2400]));
const TABLES = {
  site_daily: whole('device', 'desktop'),
  country_daily: whole('country', 'usa'),
  appearance_daily: whole('appearance', 'VIDEO'),
  brand_daily: whole('segment', 'non_brand'),
  query_daily: table('query country', (page) => [`boots ${page}`, 'usa']),
  page_daily: table('url country', (page) => [PAGES[page]!, 'usa']),
  keyword_daily: facts(
    'keyword_id date device',
    ...DAYS.map((day) => ['Kw002', day, 'desktop', clicksOn(day, 0), 400, 800]),
  ),
};

/** A second for each request: there are more than a key may send in a minute. */
let now = NOW;
const world = await makeWorld(
  t,
  {
    projects: IDS.map((id) => ({ ...PROJECT, id, property: propertyOf(id), synced_through: '2026-03-10' })),
    keywords: IDS.flatMap((id, at) => ofProject(id, [keyword(`Kw00${at}`, 'boots 0')])),
    ...Object.fromEntries(Object.entries(TABLES).map(([name, rows]) => [name, ofProject('Other', rows)])),
  },
  { now: () => (now += 1000) },
);
for (const id of ['Proj1', 'Hole1']) {
  const folder = temporaryFolder(t);
  const days = DAYS.filter((day) => id === 'Proj1' || day < GAP.from || day > GAP.to);
  await writeParquetRows(join(folder, 'part.parquet'), exported(id, days));
  await importBulkExport(world, { paths: [folder], workspace: 'acme', property: propertyOf(id) });
}

const WITH = 'from=2026-02-20&to=2026-03-05';
const COMPARED = `${WITH}&compare=2026-02-01..2026-02-14`;
/** On either side of the gap. */
const ACROSS = 'from=2026-03-02&to=2026-03-08&compare=2026-02-16..2026-02-22';
const BESIDE = ['from=2026-02-01&to=2026-02-27', 'from=2026-03-02&to=2026-03-08'];
const QUESTION = { dimensions: ['query'], range: { from: '2026-02-20', to: '2026-03-05' }, include: { quality: true } };
const RANGED = ['site', 'site?country=usa', 'keywords', 'breakdowns', 'pages', 'queries'];

/** Where an answer names the gap: by its event, and by why comparisons are unsafe, of which all rows but those of days are. */
function namesGap(body: Row): string {
  const text = JSON.stringify({ ...body, daily: undefined });
  const event = new RegExp(`"from":"${GAP.from}","to":"${GAP.to}"`).test(text) ? ['event'] : [];
  const rows = text.match(/"unsafe":\{[^}]*\}/g) ?? [];
  const marked = rows.filter((row) => /"clicks":\[[^\]]*"provider_event"/.test(row)).length;
  const isMarked = rows.length === 0 ? text.includes('"provider_event"') : marked > 0;
  return [...event, ...(isMarked ? [marked === rows.length ? 'unsafe' : 'partly unsafe'] : [])].join(' ');
}
async function told(path: string): Promise<string> {
  const { status, body } = await world.get(path);
  t.equal(status, 200, path);
  return namesGap(body as Row);
}
async function tool(name: string, given: object): Promise<string> {
  const headers = { 'x-api-key': world.key, accept: 'application/json, text/event-stream' };
  const params = { name, arguments: given };
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { body } = await world.app.inject({ method: 'POST', url: '/mcp', headers, payload });
  return /\\"from\\":\\"2026-02-28\\",\\"to\\":\\"2026-03-01\\"/.test(body) ? 'event' : '';
}

t.test('every answer, comparison and tool about days of the gap names it, and no other', async (t) => {
  const page = encodeURIComponent(PAGES[0]!);
  for (const id of IDS) {
    const found: Record<string, string> = {};
    const ask = async (path: string): Promise<void> => {
      found[path] = await told(`/projects/${id}/${path}`);
    };
    for (const path of RANGED) {
      const of = `${path}${path.includes('?') ? '&' : '?'}`;
      for (const range of [WITH, ...BESIDE]) await ask(`${of}${range}&quality=1`);
      for (const range of [COMPARED, ACROSS]) await ask(`${of}${range}`);
    }
    for (const range of [COMPARED, ACROSS]) await ask(`surfaces?${range}`);
    for (const by of ['page', 'query', 'keyword', 'device', 'country', 'brand'])
      for (const range of [COMPARED, ACROSS]) await ask(`explain?${range}&by=${by}`);
    await ask(`effects?page=${page}&date=2026-02-10`);
    await ask(`findings?${WITH}`);
    await ask(`query?q=${encodeURIComponent(JSON.stringify(QUESTION))}`);
    const range = { project: id, from: '2026-02-20', to: '2026-03-05' };
    const compare = '2026-02-01..2026-02-14';
    for (const [name, given] of [
      ['top_rows', { ...range, kind: 'queries' }],
      ['changes', { ...range, kind: 'queries', compare }],
      ['site_performance', range],
      ['breakdowns', range],
      ['findings', range],
      ['effect_of', { project: id, page: PAGES[0]!, date: '2026-02-10' }],
      ['explain_change', { ...range, compare }],
    ] as const)
      found[name] = await tool(name, given);
    const expected = (path: string): string => {
      if (id === 'Other' || path.includes('from=2026-03-02') || path.includes('to=2026-02-27')) return '';
      if (/^(explain|effects|findings)\?/.test(path)) return 'event unsafe';
      return path.includes('compare=') ? 'unsafe' : 'event';
    };
    t.strictSame(found, Object.fromEntries(Object.keys(found).map((path) => [path, expected(path)])), id);
  }
  const { projects } = (await world.get(`/portfolio?${COMPARED}&quality=1`)).body as { projects: Row[] };
  t.strictSame(Object.fromEntries(projects.map((one) => [String(one['id']), namesGap(one)])), {
    ...{ Proj1: 'event unsafe', Hole1: 'event unsafe', Other: '' },
  });
});

t.test('a list of the reporting API has no gap, although the stored days come from an export', async (t) => {
  const { ask, catalog, settings, google } = await connectedWorld(t);
  const folder = temporaryFolder(t);
  const property = String(PROJECT['property']);
  const images = exported('Proj1', eachDay('2026-02-20', '2026-03-05')).map((row) => {
    return { ...row, search_type: 'IMAGE', site_url: property };
  });
  await writeParquetRows(join(folder, 'part.parquet'), [{ ...images[0], search_type: 'WEB' }, ...images]);
  await importBulkExport({ settings, catalog }, { paths: [folder], workspace: 'acme', property });
  google.pages = [{ key: '/a', clicks: 1, impressions: 2, position: 1 }];
  const answers = [await ask(`/site?type=image&${WITH}&quality=1`), await ask(`/pages?type=image&${WITH}&quality=1`)];
  t.strictSame(
    answers.map(({ status, body }) => [status, namesGap(body as Row)]),
    [
      [200, 'event'],
      [200, ''],
    ],
  );
});

t.test('days that the sync replaces are no longer marked', localOnly, async (t) => {
  const { settings, catalog } = world;
  const publisher = publisherOn({ settings, catalog, engine: () => sharedEngine(settings) });
  const of = (path: string, range = WITH) => told(`/projects/Proj1/${path}?${range}&quality=1`);
  const sync = async (day: string): Promise<void> => {
    const file = join(temporaryFolder(t), 'days.parquet');
    await writeParquetRows(file, ofProject('Proj1', whole('device', 'desktop', [day])));
    const newDays = async () => [{ table: 'site_daily' as const, days: [day], files: [file] }];
    await publisher.publishDays({ project: 'Proj1', newDays, inTransaction: async () => false });
  };
  await sync(GAP.from);
  t.strictSame(
    [await of('site'), await of('site', `from=2026-02-20&to=${GAP.from}`)],
    ['event', ''],
    'one day is left',
  );
  await sync(GAP.to);
  t.strictSame([await of('site'), await of('queries')], ['', 'event'], 'queries are of the export');
  const explained = (by: string) => told(`/projects/Proj1/explain?${COMPARED}&by=${by}`);
  t.strictSame([await explained('query'), await explained('device')], ['event unsafe', '']);
});
