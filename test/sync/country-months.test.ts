// A month stores its top 20 countries, and all others as one row.
import { join } from 'node:path';
import t from 'tap';
import { Engine } from '../../server/facts/duckdb/engine.ts';
import { lastCompleteMonthEnd, writeCountryMonths } from '../../server/sync/new-days.ts';
import { duckdb, quoted, writeParquetRows } from '../parquet.ts';
import { temporaryFolder } from '../world.ts';

t.test('a month has 20 countries by clicks, and all others together', async (t) => {
  const folder = temporaryFolder(t);
  const stored = join(folder, 'stored.parquet');
  const country = (index: number): string => `c${String.fromCharCode(97 + Math.floor(index / 26), 97 + (index % 26))}`;
  const days = ['2026-01-05', '2026-01-31', '2026-02-01'];
  const rows = days.flatMap((date) =>
    Array.from({ length: 30 }, (_, index) => ({
      date,
      country: country(index),
      clicks: index,
      impressions: 100,
      sum_position: 10,
    })),
  );
  await writeParquetRows(stored, rows, {
    date: 'date',
    clicks: 'bigint',
    impressions: 'bigint',
    sum_position: 'bigint',
  });
  const engine = await Engine.open({
    memoryLimit: '256MB',
    threads: 1,
    temporaryFolder: join(folder, 'memory'),
    folders: [folder],
  });
  t.teardown(() => engine.close());
  using session = await engine.session();
  const target = join(folder, 'months.parquet');
  const found = await writeCountryMonths(session, {
    project: 'Proj1',
    stored: [stored],
    fetched: [],
    replaced: ['2026-01-31'],
    through: '2026-02-28',
    isComplete: (month) => month === '2026-01',
    target,
  });
  t.strictSame(found, { months: ['2026-01'], days: ['2026-01-05'] });
  const months = await duckdb(`select country, clicks::int as clicks, impressions::int as impressions,
    sum_position::int as sum_position from read_parquet(${quoted(target)}) order by clicks desc, country`);
  t.equal(months.length, 21);
  t.strictSame(months[0], { country: 'other', clicks: 45, impressions: 1000, sum_position: 100 });
  t.strictSame(
    months.slice(1).map((row) => row['clicks']),
    Array.from({ length: 20 }, (_, index) => 29 - index),
  );
});

t.test('the last whole month before a day', (t) => {
  t.equal(lastCompleteMonthEnd('2024-11-14'), '2024-10-31');
  t.equal(lastCompleteMonthEnd('2024-11-01'), '2024-10-31');
  t.equal(lastCompleteMonthEnd('2024-10-31'), '2024-09-30');
  t.equal(lastCompleteMonthEnd('2025-01-31'), '2024-12-31');
  t.end();
});
