// The catalog knows which stored days came from a bulk export, until something else replaces or drops them.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { listBulkExportDays, readBulkExportDaysOfWorkspace } from '../../server/catalog/bulk-export-days.ts';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { deleteProject } from '../../server/catalog/projects.ts';
import { type ImportOptions, importBulkExport } from '../../server/load/bulk-export.ts';
import { pruneProject } from '../../server/load/prune.ts';
import { publisherOn } from '../../server/load/publish-days.ts';
import { writeParquetRows } from '../parquet.ts';
import { localOnly } from '../stores.ts';
import {
  facts,
  keyword,
  type LazyWorld,
  makeLazyWorld,
  PROJECT,
  type Row,
  sharedEngine,
  temporaryFolder,
} from '../world.ts';
import { readRebuilt } from './rebuilt.ts';

const PROPERTY = String(PROJECT['property']);
const TABLES = ['brand_daily', 'country_daily', 'keyword_daily', 'page_daily', 'query_daily', 'site_daily'];

function row(day: string, more: Row = {}): Row {
  return {
    data_date: day,
    site_url: PROPERTY,
    url: 'https://shop.example/a',
    query: 'boots',
    is_anonymized_query: false,
    country: 'usa',
    search_type: 'WEB',
    device: 'DESKTOP',
    impressions: 10,
    clicks: 1,
    sum_position: 20,
    ...more,
  };
}

async function makeExports(t: Test) {
  const world = await makeLazyWorld(t, { keywords: [keyword('Kw001', 'boots')] });
  const { settings, catalog } = world;
  const bring = async (rows: readonly Row[], options: Partial<ImportOptions> = {}) => {
    const folder = temporaryFolder(t);
    await writeParquetRows(join(folder, 'part.parquet'), rows);
    return importBulkExport(
      { settings, catalog },
      { paths: [folder], workspace: 'acme', property: PROPERTY, ...options },
    );
  };
  return { ...world, bring };
}

/** The days of `Proj1` by table, as text. */
async function daysOf(catalog: Catalog): Promise<Record<string, string>> {
  const all = (await listBulkExportDays(catalog)).filter(({ project }) => project === 'Proj1');
  return Object.fromEntries(
    all.map(({ table, ranges }) => [table, ranges.map(({ from, to }) => `${from}..${to}`).join(' ')]),
  );
}

function each(tables: readonly string[], days: string): Record<string, string> {
  return Object.fromEntries(tables.map((table) => [table, days]));
}

/** Publishes a day of the site as the sync does. */
async function syncDay({ settings, catalog }: LazyWorld, day: string): Promise<void> {
  const publisher = publisherOn({ settings, catalog, engine: () => sharedEngine(settings) });
  await publisher.publishDays({
    project: 'Proj1',
    newDays: async () => [{ table: 'site_daily', days: [day], files: [] }],
    inTransaction: async () => false,
  });
}

t.test('an import adds the days that it has rows of to those of earlier imports', async (t) => {
  const { bring, catalog } = await makeExports(t);
  const first = [row('2026-02-26'), row('2026-02-27'), row('2026-03-02')];
  await bring(first, { dryRun: true });
  t.strictSame(await daysOf(catalog), {}, 'a dry run records nothing');
  await bring(first);
  t.strictSame(await daysOf(catalog), each(TABLES, '2026-02-26..2026-02-27 2026-03-02..2026-03-02'));
  await bring([row('2026-02-28'), row('2026-03-01'), row('2026-03-01', { search_type: 'IMAGE' })]);
  t.strictSame(await daysOf(catalog), {
    ...each(TABLES, '2026-02-26..2026-03-02'),
    ...each(['country_daily_image', 'site_daily_image'], '2026-03-01..2026-03-01'),
  });
  t.strictSame(
    await readBulkExportDaysOfWorkspace(catalog, 'acme', 'site_daily'),
    new Map([['Proj1', [{ from: '2026-02-26', to: '2026-03-02' }]]]),
  );
  t.strictSame(await readBulkExportDaysOfWorkspace(catalog, 'other', 'site_daily'), new Map());
});

t.test('days that a load or the sync replaces no longer come from the export, in its tables only', async (t) => {
  const world = await makeExports(t);
  const { bring, catalog, load } = world;
  await bring([row('2026-02-27'), row('2026-02-28'), row('2026-03-01'), row('2026-03-02')]);
  await load({ site_daily: facts('date device', ['2026-02-28', 'desktop', 5, 100, 900]) });
  const others = each(TABLES, '2026-02-27..2026-03-02');
  t.strictSame(await daysOf(catalog), { ...others, site_daily: '2026-02-27..2026-02-27 2026-03-01..2026-03-02' });
  await syncDay(world, '2026-03-02');
  t.strictSame(await daysOf(catalog), { ...others, site_daily: '2026-02-27..2026-02-27 2026-03-01..2026-03-01' });
  await bring([row('2026-02-28')]);
  t.strictSame(await daysOf(catalog), { ...others, site_daily: '2026-02-27..2026-03-01' });
});

t.test('retention and removal forget them', async (t) => {
  const { bring, catalog, settings } = await makeExports(t);
  await bring([row('2026-01-31'), row('2026-02-28'), row('2026-03-01')]);
  const stores = { settings, catalog, engine: () => sharedEngine(settings) };
  await pruneProject(stores, 'Proj1', '2026-02-01');
  t.strictSame(await daysOf(catalog), each(TABLES, '2026-02-28..2026-03-01'));
  await pruneProject(stores, 'Proj1', '2026-04-01');
  t.strictSame(await daysOf(catalog), {});
  await bring([row('2026-03-01')]);
  await deleteProject(catalog, 'Proj1');
  t.strictSame(await listBulkExportDays(catalog), []);
});

t.test('a rebuilt catalog knows them, from changes and from a checkpoint', localOnly, async (t) => {
  const world = await makeExports(t);
  const { bring, catalog, dataFolder, load } = world;
  await bring([row('2026-02-28'), row('2026-03-01'), row('2026-03-02')]);
  await load({ site_daily: facts('date device', ['2026-03-01', 'desktop', 5, 100, 900]) });
  const before = await daysOf(catalog);
  t.equal(before['site_daily'], '2026-02-28..2026-02-28 2026-03-02..2026-03-02');
  await catalog.close();
  t.strictSame(await readRebuilt(t, dataFolder, daysOf), { fromChanges: before, fromCheckpoint: before });
});
