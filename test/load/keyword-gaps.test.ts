// Days that are unknown of a keyword survive its archive and a lost catalog, and alerts say nothing about them.
import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { perform } from '../../cli/operations.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { eachKeywordGap } from '../../server/catalog/keywords.ts';
import { sqliteIn } from '../../server/catalog/location.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { listBulkExportDays } from '../../server/catalog/sync-days.ts';
import { addDays } from '../../server/domain/dates.ts';
import type { Range } from '../../server/domain/range.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { Journal } from '../../server/load/journal.ts';
import { rebuild } from '../../server/maintenance/rebuild.ts';
import { KEYWORD_OPERATIONS } from '../../server/operations/keywords.ts';
import { archiveKeywords, trackQueries } from '../../server/projects/keywords.ts';
import { evaluate, factsOf, KEYWORDS, NOW, projectUntil, START } from '../alerts/world.ts';
import { writeParquetRows } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import { type LazyWorld, makeLazyWorld, PROJECT, type Row, temporaryFolder } from '../world.ts';

const PROPERTY = String(PROJECT['property']);
const BY = { by: 'ada@acme.example', at: 0 };

/** Imports queries, each with the days on which it has one click. */
async function bring(t: Test, world: LazyWorld, queries: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const folder = temporaryFolder(t);
  const rows = Object.entries(queries).flatMap(([query, days]) =>
    days.map((data_date) => ({
      ...{ data_date, site_url: PROPERTY, url: 'https://shop.example/a', query, is_anonymized_query: false },
      ...{ country: 'usa', search_type: 'WEB', device: 'DESKTOP', impressions: 10, clicks: 1, sum_position: 20 },
    })),
  );
  await writeParquetRows(join(folder, 'part.parquet'), rows);
  await importBulkExport(world, { paths: [folder], workspace: 'acme', property: PROPERTY });
}

async function track(world: LazyWorld, query: string): Promise<string> {
  const { added } = await trackQueries(world.catalog, { project: 'Proj1', queries: [query], source: 'manual' }, BY);
  return added[0]!.id;
}

/** The unknown days of each keyword by its id, and the days of exports by table. */
async function daysOf(catalog: Catalog): Promise<Record<string, string>> {
  const text = (ranges: readonly Range[]): string => ranges.map(({ from, to }) => `${from}..${to}`).join(' ');
  const gaps = await Array.fromAsync(eachKeywordGap(catalog));
  const exported = await listBulkExportDays(catalog);
  const entries = [
    ...gaps.map(({ keyword, ranges }) => [keyword, text(ranges)] as const),
    ...exported.map(({ table, ranges }) => [table, text(ranges)] as const),
  ];
  return Object.fromEntries(entries);
}

/** What is known after a rebuild of a lost catalog. */
async function rebuilt(t: Test, dataFolder: string): Promise<Record<string, string>> {
  for (const file of globSync(`${dataFolder}/catalog.sqlite*`)) rmSync(file);
  t.match(await rebuild(dataFolder), { rebuilt: 'catalog' });
  await using catalog = await openCatalog(sqliteIn(dataFolder));
  const found = await daysOf(catalog);
  // The next rebuild reads a copy instead of changes.
  await new Journal(dataFolder).beginAnew();
  t.equal(globSync(`${dataFolder}/facts/{journal,copies}/*`).length, 1);
  return found;
}

t.test(
  'a keyword lacks the days before it was tracked and while it was archived, also in a rebuilt catalog',
  localOnly,
  async (t) => {
    const world = await makeLazyWorld(t);
    const first = await track(world, 'first');
    await bring(t, world, { first: ['2026-02-28', '2026-03-01'] });
    const second = await track(world, 'second');
    await bring(t, world, { first: ['2026-03-02'] });
    await archiveKeywords(world.catalog, { project: 'Proj1', ids: [second], queries: [] }, BY);
    await bring(t, world, { first: ['2026-03-03'], second: ['2026-03-03'] });
    const [change] = KEYWORD_OPERATIONS;
    await perform(world, change!, { workspace: 'acme', project: 'Proj1', id: second, input: { archived: false } });
    await bring(t, world, { first: ['2026-03-04'], second: ['2026-03-04'] });
    await world.load({
      site_daily: [
        { project_id: 'Proj1', date: '2026-03-01', device: 'desktop', clicks: 5, impressions: 9, sum_position: 0 },
      ],
    });
    const known = {
      [second]: '2026-02-28..2026-03-01 2026-03-03..2026-03-03',
      ...Object.fromEntries(
        ['brand_daily', 'country_daily', 'keyword_daily', 'page_daily', 'query_daily'].map((table) => [
          table,
          '2026-02-28..2026-03-04',
        ]),
      ),
      site_daily: '2026-02-28..2026-02-28 2026-03-02..2026-03-04',
    };
    t.strictSame(await daysOf(world.catalog), known);
    const clicks = async (days: string): Promise<unknown> =>
      Object.fromEntries(
        (await world.ask(`/keywords?${days}`)).body.keywords.map(({ id, metrics }: Record<'id' | 'metrics', Row>) => [
          id,
          metrics['clicks'],
        ]),
      );
    t.strictSame(await clicks('from=2026-03-04&to=2026-03-04'), { [first]: 1, [second]: 1 });
    t.strictSame(await clicks('from=2026-03-03&to=2026-03-04'), { [first]: 2, [second]: null });
    t.strictSame(await clicks('from=2026-03-02&to=2026-03-02'), { [first]: 1, [second]: 0 });
    await world.catalog.close();
    t.strictSame(await rebuilt(t, world.dataFolder), known, 'of changes');
    t.strictSame(await rebuilt(t, world.dataFolder), known, 'of a checkpoint');
  },
);

t.test('alerts say nothing about unknown days', localOnly, async (t) => {
  const last = addDays(START, 104);
  const rows = { projects: [projectUntil(last)], keywords: KEYWORDS, ...factsOf(0, 100) };
  const world = await makeLazyWorld(t, rows, { now: NOW });
  const id = await track(world, 'sandals');
  const shown = (from: number, to: number): Row[] => {
    const { keyword_daily: days } = factsOf(from, to);
    const own = days.filter((day) => day['keyword_id'] === 'KwAaa').map((day) => ({ ...day, keyword_id: id }));
    return [...days, ...own];
  };
  const rule = { scope: 'keyword', id, metric: 'clicks', window: '7d', against: 'value', op: 'lt', value: 1 };
  await world.load({
    alert_rules: [{ id: '00000000-0000-4000-8000-000000000001', project_id: 'Proj1', name: 'Gone', rule }],
    keyword_daily: shown(0, 59),
  });
  await world.load(factsOf(101, 104));
  t.strictSame(await daysOf(world.catalog), { [id]: `${addDays(START, 60)}..${addDays(START, 100)}` });
  const opened = async (): Promise<unknown[]> =>
    (await evaluate(world, { dryRun: true }))!.alerts
      .filter(({ type, keywordId }) => type === 'rule' || keywordId === id)
      .map(({ type }) => type);
  t.strictSame(await opened(), [], 'seven weeks without impressions are unknown');
  await world.load({ keyword_daily: factsOf(60, 100).keyword_daily });
  t.strictSame(new Set(await opened()), new Set(['keyword_lost', 'rule']), 'and known once a load has them');
});
