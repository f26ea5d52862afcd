// Every answer names the gap of the bulk export for days that came from one, and for no others.
import { join } from 'node:path';
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { publisherOn } from '../../server/load/publish-days.ts';
import { connectedWorld } from '../fakes/connected.ts';
import { callTool, connectAgent } from '../mcp/agent.ts';
import { writeParquetRows } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import {
  type Answer,
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
      data_date: day,
      site_url: propertyOf(id),
      url,
      query: `boots ${page}`,
      is_anonymized_query: false,
      country: 'usa',
      search_type: 'WEB',
      device: 'DESKTOP',
      is_video: true,
      impressions: 400,
      clicks: clicksOn(day, page),
      sum_position: 800,
    })),
  );
/** The same numbers in a table of a snapshot. */
const table = (columns: string, cells: (page: number) => readonly string[], days: readonly string[] = DAYS): Row[] =>
  facts(
    `date ${columns}`,
    ...days.flatMap((day) => PAGES.map((_, page) => [day, ...cells(page), clicksOn(day, page), 400, 800])),
  );
const siteRows = (days: readonly string[] = DAYS): Row[] =>
  facts('date device', ...days.map((day) => [day, 'desktop', 63, 1200, 2400]));
const TABLES = {
  site_daily: siteRows(),
  country_daily: facts('date country', ...DAYS.map((day) => [day, 'usa', 63, 1200, 2400])),
  appearance_daily: facts('date appearance', ...DAYS.map((day) => [day, 'VIDEO', 63, 1200, 2400])),
  brand_daily: facts('date segment', ...DAYS.map((day) => [day, 'non_brand', 63, 1200, 2400])),
  query_daily: table('query country', (page) => [`boots ${page}`, 'usa']),
  page_daily: table('url country', (page) => [PAGES[page]!, 'usa']),
};

/** A second for each request: there are more than a key may send in a minute. */
let now = NOW;
const world = await makeWorld(
  t,
  {
    projects: IDS.map((id) => ({ ...PROJECT, id, property: propertyOf(id), synced_through: '2026-03-10' })),
    keywords: IDS.map((id, at) => ({ ...keyword(`Kw00${at}`, 'boots 0'), project_id: id })),
    ...Object.fromEntries(Object.entries(TABLES).map(([name, rows]) => [name, ofProject('Other', rows)])),
    keyword_daily: ofProject(
      'Other',
      facts('keyword_id date device', ...DAYS.map((day) => ['Kw002', day, 'desktop', clicksOn(day, 0), 400, 800])),
    ),
  },
  { now: () => (now += 1000) },
);
for (const id of ['Proj1', 'Hole1']) {
  const days = DAYS.filter((day) => id === 'Proj1' || day < GAP.from || day > GAP.to);
  const folder = temporaryFolder(t);
  await writeParquetRows(join(folder, 'part.parquet'), exported(id, days));
  const { settings, catalog } = world;
  await importBulkExport({ settings, catalog }, { paths: [folder], workspace: 'acme', property: propertyOf(id) });
}

const get = async (path: string): Promise<Answer['body']> => {
  const { status, body } = await world.get(path);
  t.equal(status, 200, path);
  return body;
};
const hasGap = (events: readonly { readonly from: string; readonly to: string }[]): boolean =>
  events.some(({ from, to }) => from === GAP.from && to === GAP.to);
const isMarked = ({ unsafe }: { unsafe: Readonly<Record<string, readonly string[]>> }): boolean =>
  unsafe['clicks']?.includes('provider_event') ?? false;

const WITH = 'from=2026-02-20&to=2026-03-05';
const COMPARED = `${WITH}&compare=2026-02-01..2026-02-14`;
/** On either side of the gap. */
const ACROSS = 'from=2026-03-02&to=2026-03-08&compare=2026-02-16..2026-02-22';
const PATHS = ['site', 'keywords', 'breakdowns', 'pages', 'queries'];

t.test('the quality of every answer names the gap, if the range has a day of it', async (t) => {
  for (const id of IDS) {
    const isTold = id !== 'Other';
    const paths = [...PATHS, 'explain', 'findings'];
    for (const path of paths) {
      const { quality } = await get(`/projects/${id}/${path}?${WITH}&quality=1`);
      t.equal(hasGap(quality.events), isTold, `${id} ${path}`);
      const days = quality.events.map(({ from }: { from: string }) => from) as string[];
      t.strictSame(days, [...days].sort(), 'oldest first');
    }
    const { quality } = await get(`/projects/${id}/site?country=usa&${WITH}&quality=1`);
    t.equal(hasGap(quality.events), isTold, `${id} country`);
    const question = { dimensions: ['query'], metrics: ['clicks'], range: { from: '2026-02-20', to: '2026-03-05' } };
    const asked = await get(
      `/projects/${id}/query?q=${encodeURIComponent(JSON.stringify({ ...question, include: { quality: true } }))}`,
    );
    t.equal(hasGap(asked.quality.events), isTold, `${id} query`);
    for (const range of ['from=2026-02-01&to=2026-02-27', 'from=2026-03-02&to=2026-03-08']) {
      for (const path of PATHS) {
        t.notOk(hasGap((await get(`/projects/${id}/${path}?${range}&quality=1`)).quality.events), `${path} ${range}`);
      }
    }
  }
  const { projects } = await get(`/portfolio?${WITH}&quality=1`);
  for (const { id, quality } of projects) t.equal(hasGap(quality.events), id !== 'Other', `portfolio ${id}`);
});

t.test('comparisons with days of the gap are marked, and those of days on either side are not', async (t) => {
  for (const id of IDS) {
    const isTold = id !== 'Other';
    for (const [range, expected] of [
      [COMPARED, isTold],
      [ACROSS, false],
    ] as const) {
      const of = `${id} ${range}`;
      const { totals, daily } = await get(`/projects/${id}/site?${range}`);
      t.equal(isMarked(totals), expected, of);
      t.equal(daily.some(isMarked), expected, `${of} days`);
      const { keywords } = await get(`/projects/${id}/keywords?${range}`);
      t.equal(isMarked(keywords[0].totals ?? keywords[0]), expected, `${of} keywords`);
      const { countries, devices, appearances, brand } = await get(`/projects/${id}/breakdowns?${range}`);
      for (const row of [countries[0], devices[0], appearances[0], brand.nonBrand]) {
        t.equal(isMarked(row), expected, `${of} breakdowns`);
      }
      for (const path of ['pages', 'queries']) {
        t.equal(isMarked((await get(`/projects/${id}/${path}?${range}`))[path][0]), expected, `${of} ${path}`);
      }
      const { surfaces } = await get(`/projects/${id}/surfaces?${range}`);
      t.equal(isMarked(surfaces[0]), expected, `${of} surfaces`);
    }
  }
  const { projects } = await get(`/portfolio?${COMPARED}`);
  for (const { id, totals } of projects) t.equal(isMarked(totals), id !== 'Other', `portfolio ${id}`);
});

t.test('explanations, effects and findings name the gap', async (t) => {
  for (const id of IDS) {
    const isTold = id !== 'Other';
    for (const by of ['page', 'query', 'keyword', 'device', 'country', 'brand']) {
      const { events, unsafe } = await get(`/projects/${id}/explain?${COMPARED}&by=${by}`);
      t.equal(hasGap(events), isTold, `${id} ${by}`);
      const reasons = unsafe.map(({ reason }: { reason: string }) => reason);
      t.equal(reasons.includes('provider_event'), isTold, `${id} ${by}: ${reasons.join()}`);
      t.notOk(hasGap((await get(`/projects/${id}/explain?${ACROSS}&by=${by}`)).events), `${id} ${by}`);
    }
    const page = encodeURIComponent(PAGES[0]!);
    const effect = await get(`/projects/${id}/effects?page=${page}&date=2026-02-10`);
    t.equal(hasGap(effect.events), isTold, `${id} effects`);
    t.equal(effect.reasons.includes('provider_event'), isTold, `${id} effects: ${effect.reasons}`);
    const { tested } = await get(`/projects/${id}/findings?${WITH}`);
    t.equal(JSON.stringify(tested).includes('provider_event'), isTold, `${id} findings`);
  }
});

t.test('agents see the gap', async (t) => {
  const agent = await connectAgent(t, new URL('/mcp', await world.app.listen({ port: 0 })), {
    authorization: `Bearer ${world.key}`,
  });
  const range = { from: '2026-02-20', to: '2026-03-05' };
  for (const id of IDS) {
    for (const [tool, more] of [
      ['top_rows', { kind: 'queries' }],
      ['changes', { kind: 'queries', compare: '2026-02-01..2026-02-14' }],
      ['site_performance', {}],
      ['breakdowns', {}],
      ['findings', {}],
      ['effect_of', { page: PAGES[0]!, date: '2026-02-10' }],
      ['explain_change', { compare: '2026-02-01..2026-02-14' }],
    ] as const) {
      const asked = tool === 'effect_of' ? more : { ...range, ...more };
      const { body, isError } = await callTool(agent, tool, { project: id, ...asked });
      t.notOk(isError, JSON.stringify(body));
      t.equal(hasGap(body.events), id !== 'Other', `${id} ${tool}`);
    }
  }
});

t.test('a list of the reporting API has no gap, although the stored days come from an export', async (t) => {
  const { ask, catalog, settings, google } = await connectedWorld(t);
  const folder = temporaryFolder(t);
  const rows = exported('Proj1', eachDay('2026-02-20', '2026-03-05'));
  const property = String(PROJECT['property']);
  const images = rows.map((row) => ({ ...row, search_type: 'IMAGE', site_url: property }));
  const web = { ...images[0], search_type: 'WEB' };
  await writeParquetRows(join(folder, 'part.parquet'), [web, ...images]);
  await importBulkExport({ settings, catalog }, { paths: [folder], workspace: 'acme', property });
  google.pages = [{ key: '/a', clicks: 1, impressions: 2, position: 1 }];
  for (const [path, isTold] of [
    [`/site?type=image&${WITH}&quality=1`, true],
    [`/pages?type=image&${WITH}&quality=1`, false],
  ] as const) {
    const { status, body } = await ask(path);
    t.equal(status, 200, path);
    t.equal(hasGap(body.quality.events), isTold, path);
  }
});

t.test('days that the sync replaces are no longer marked', localOnly, async (t) => {
  const { settings, catalog } = world;
  const publisher = publisherOn({ settings, catalog, engine: () => sharedEngine(settings) });
  const isTold = async (range = WITH) => hasGap((await get(`/projects/Proj1/site?${range}&quality=1`)).quality.events);
  const sync = async (day: string): Promise<void> => {
    const file = join(temporaryFolder(t), 'days.parquet');
    await writeParquetRows(file, ofProject('Proj1', siteRows([day])));
    const newDays = async () => [{ table: 'site_daily' as const, days: [day], files: [file] }];
    await publisher.publishDays({ project: 'Proj1', newDays, inTransaction: async () => false });
  };
  await sync(GAP.from);
  t.ok(await isTold(), 'one day of the gap is left');
  t.notOk(await isTold(`from=2026-02-20&to=${GAP.from}`), 'the other is not');
  await sync(GAP.to);
  t.notOk(await isTold());
  t.ok(hasGap((await get(`/projects/Proj1/queries?${WITH}&quality=1`)).quality.events), 'queries are of the export');
  t.ok(hasGap((await get(`/projects/Proj1/explain?${COMPARED}&by=query`)).events), 'and so are their explanations');
  t.notOk(hasGap((await get(`/projects/Proj1/explain?${COMPARED}&by=device`)).events));
});
