// Rows of a bulk export that the sync keeps stay known as such: those of other keywords, and country days as months.

import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readBulkExportDays } from '../../server/catalog/sync-days.ts';
import { eachDay } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import type { FactTable } from '../../server/model/tables.ts';
import { writeParquetRows } from '../parquet.ts';
import { keyword, PROJECT, temporaryFolder } from '../world.ts';
import { type SyncWorld, syncWorld } from './sync-world.ts';

const EXPORTED = { from: '2026-02-20', to: '2026-03-01' };
const PROPERTY = String(PROJECT['property']);

/** A world that has been synced, and of which an export then replaced some days. */
async function exportedWorld(t: Test, environment: NodeJS.ProcessEnv = {}): Promise<SyncWorld> {
  const world = await syncWorld(t, { tracked: 2, environment });
  await world.sync();
  const rows = eachDay(EXPORTED.from, EXPORTED.to).map((day) => ({
    data_date: day,
    site_url: PROPERTY,
    url: 'https://shop.example/a',
    query: world.queries[0]!,
    is_anonymized_query: false,
    country: 'usa',
    search_type: 'WEB',
    device: 'DESKTOP',
    impressions: 400,
    clicks: 30,
    sum_position: 800,
  }));
  const folder = temporaryFolder(t);
  await writeParquetRows(join(folder, 'part.parquet'), rows);
  const { settings, catalog } = world;
  await importBulkExport({ settings, catalog }, { paths: [folder], workspace: 'acme', property: PROPERTY });
  return world;
}

async function daysOf({ catalog }: SyncWorld, table: FactTable) {
  return (await readBulkExportDays(catalog, 'Proj1')).get(table) ?? [];
}

t.test('the history of one more keyword keeps the rows of the others', async (t) => {
  const world = await exportedWorld(t);
  t.strictSame(await daysOf(world, 'keyword_daily'), [EXPORTED]);
  await world.load({ keywords: [keyword('kw900', world.queries[5]!)] });
  await world.sync();
  const stored = (await world.stored('keyword_daily')).filter(({ date }) => date === EXPORTED.to);
  const of = (id: string) => stored.filter(({ keyword_id }) => keyword_id === id);
  t.ok(of('kw900').length > 0, 'it has its history');
  t.match(of('kw000'), [{ clicks: 30, impressions: 400 }], 'the other has the rows of the export');
  t.strictSame(await daysOf(world, 'keyword_daily'), [EXPORTED]);
});

t.test('country days that become months are still of the export', async (t) => {
  const world = await exportedWorld(t, { ORDINATE_COUNTRY_DAYS: '30' });
  world.clock = Date.parse('2026-04-05T19:00:00Z');
  await world.sync();
  const months = await world.stored('country_monthly');
  t.ok(
    months.some(({ month }) => month === '2026-02-01'),
    'February is a month',
  );
  t.strictSame(await daysOf(world, 'country_daily'), [EXPORTED]);
  const { body } = await world.ask('/site?country=usa&from=2026-02-01&to=2026-02-28&quality=1');
  t.ok(
    body.quality.events.some(({ from }: { from: string }) => from === '2026-02-28'),
    'whose gap is told',
  );
});
