// Facts and marks of days that have not happened are refused by file and line.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importAiReport } from '../../server/import/ai-report.ts';
import { importSearchConsole } from '../../server/import/search-console.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { FACTS } from '../../server/load/fact-tables.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { writeParquetRows } from '../parquet.ts';
import {
  type LazyWorld,
  makeLazyWorld,
  PROJECT,
  type Row,
  sharedEngine,
  temporaryFolder,
  WORKSPACE,
} from '../world.ts';
import { problemsOf } from './refused.ts';
import { answersOf, csv, FACT, ndjson, writeFiles } from './snapshots.ts';

/** The last moment of a day in UTC, which in California is still the day before. */
const LATE = Date.parse('2026-03-10T23:59:59Z');
const [TODAY, TOMORROW, AFTER] = ['2026-03-10', '2026-03-11', '2026-03-12'] as const;

const storesOf = ({ settings, catalog }: LazyWorld, now = LATE) => ({ settings, catalog, now: () => now });
const load = (world: LazyWorld, folder: string, now = LATE) =>
  loadSnapshot(storesOf(world, now), { folder, engine: () => sharedEngine(world.settings) });

const KEYS: Row = {
  project_id: 'Proj1',
  keyword_id: 'Kw001',
  device: 'mobile',
  country: 'usa',
  appearance: 'VIDEO',
  segment: 'brand',
  url: 'https://shop.example/',
  query: 'x',
  hour: '2026-03-10T10:00:00Z',
};

t.test('facts of every table', async (t) => {
  const world = await makeLazyWorld(t);
  const before = await answersOf(world);
  for (const { name, columns, day } of FACTS) {
    const rowOf = (last: string): Row => {
      const values: Row = { ...KEYS, date: last, month: last, week_end: last, first_day: TODAY, last_day: last };
      return Object.fromEntries(columns.map(({ name: column }) => [column, values[column] ?? 1]));
    };
    const months = day === 'month';
    const rows = months ? ['2026-03-01', '2026-04-01'] : [TODAY, AFTER];
    const folder = writeFiles(t, { [`${name}.csv`]: csv(rows.map(rowOf)) });
    const problems = await problemsOf(load(world, folder));
    const wrong = problems.filter(({ column }) => column === day);
    t.match(
      wrong,
      [{ table: name, message: /1 row .*from 1990 to tomorrow \(UTC\)/, rows: [{ file: `${name}.csv`, line: 3 }] }],
      name,
    );
  }
  t.strictSame(await answersOf(world), before, 'what was being served is untouched');
});

t.test('marks of projects', async (t) => {
  const world = await makeLazyWorld(t);
  for (const [mark, value] of [
    ['synced_through', AFTER],
    ['synced_through', '2030-01-01'],
    ['provisional_after', AFTER],
    ['last_synced_at', `${AFTER}T00:00:00Z`],
  ] as const) {
    const folder = writeFiles(t, { 'projects.csv': csv([{ ...PROJECT, [mark]: value }]) });
    t.match(
      await problemsOf(load(world, folder)),
      [{ table: 'projects', column: mark, message: /tomorrow/, rows: [{ file: 'projects.csv', line: 2 }] }],
      `${mark} ${value}`,
    );
  }
  const marks = { synced_through: TOMORROW, provisional_after: TOMORROW, last_synced_at: `${TOMORROW}T23:59:59Z` };
  await load(world, writeFiles(t, { 'projects.ndjson': ndjson([{ ...PROJECT, ...marks }]) }));
  t.match((await world.get('/projects')).body.projects, [{ syncedThrough: TOMORROW }]);
});

t.test('a day of grace, in UTC, and the next day more', async (t) => {
  const world = await makeLazyWorld(t);
  const of = (date: string): string => writeFiles(t, { 'site_daily.csv': csv([{ ...FACT, date, device: 'mobile' }]) });
  await load(world, of(TOMORROW));
  await t.rejects(load(world, of(AFTER)), { message: /site_daily\.date/ });
  await load(world, of(AFTER), LATE + 1000);
});

t.test('imports name the file and the line of the user', async (t) => {
  const world = await makeLazyWorld(t, { workspaces: [WORKSPACE], projects: [PROJECT] });
  const before = await answersOf(world);
  const folder = temporaryFolder(t);
  const path = join(folder, 'Dates.csv');
  const options = { paths: [path], workspace: 'acme', property: String(PROJECT['property']) };
  const chart = (separator: string, ...days: string[]): void => {
    const rows = ['Date,Clicks,Impressions,CTR,Position', ...days.map((day) => `${day},1,2,50%,1`)];
    writeFileSync(path, `${rows.join('\n').replaceAll(',', separator)}\n`);
  };
  for (const separator of [',', ';', '\t']) {
    chart(separator, TODAY, TOMORROW, AFTER);
    await t.rejects(importSearchConsole(storesOf(world), options), {
      message: /^'Dates\.csv', line 4: the day 2026-03-12 has not happened yet; days may be at most 2026-03-11/,
    });
  }
  writeFileSync(
    path,
    `Date,Impressions\n${TODAY},1\n3/12/2026,2\n`
      .replace(TODAY, '3/10/2026 12:00:00 AM')
      .replace('3/12/2026', '3/12/2026 12:00:00 AM'),
  );
  await t.rejects(importAiReport(storesOf(world), options), { message: /^'Dates\.csv', line 3: the day 2026-03-12/ });
  writeFileSync(path, 'Top queries,Clicks,Impressions,CTR,Position\nx,1,2,50%,1\n');
  const range = { from: TODAY, to: AFTER };
  await t.rejects(importSearchConsole(storesOf(world), { ...options, range }), { message: /--to \(2026-03-12\)/ });
  await t.rejects(importAiReport(storesOf(world), { ...options, range }), { message: /--to \(2026-03-12\)/ });

  const rows = [TODAY, AFTER].map((data_date) => ({
    ...{ data_date, site_url: PROJECT['property'], query: 'x', is_anonymized_query: false, country: 'usa' },
    ...{ search_type: 'WEB', device: 'MOBILE', impressions: 2, clicks: 1, sum_top_position: 2 },
  }));
  await writeParquetRows(join(folder, 'site.parquet'), rows);
  await t.rejects(importBulkExport(storesOf(world), { ...options, paths: [folder] }), {
    message: /site\.parquet', row 2: the day 2026-03-12 has not happened yet/,
  });
  t.strictSame(await answersOf(world), before, 'nothing was stored');
  chart(',', TODAY, TOMORROW);
  t.match(await importSearchConsole(storesOf(world), options), { tables: { site_daily: { rows: 2 } } });
});
