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
      // Ties, of which the first by name has the fewest impressions.
      clicks: Math.floor(index / 4),
      impressions: 100 + index,
      sum_position: index % 3,
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
  const months = await duckdb(`select month, country, clicks::int as clicks, impressions::int as impressions,
    sum_position::int as sum_position from read_parquet(${quoted(target)}) order by impressions desc`);
  const january = rows.filter(({ date }) => date === '2026-01-05').toReversed();
  const sum = (name: 'clicks' | 'impressions' | 'sum_position'): number =>
    january.slice(20).reduce((all, row) => all + row[name], 0);
  const other = {
    country: 'other',
    clicks: sum('clicks'),
    impressions: sum('impressions'),
    sum_position: sum('sum_position'),
  };
  const named = [other, ...january.slice(0, 20)];
  t.same(
    months,
    named.map(({ country: name, clicks, impressions, sum_position }) => {
      return { month: '2026-01-01', country: name, clicks, impressions, sum_position };
    }),
  );
});

t.test('the last whole month before a day', (t) => {
  t.equal(lastCompleteMonthEnd('2024-11-14'), '2024-10-31');
  t.equal(lastCompleteMonthEnd('2024-11-01'), '2024-10-31');
  t.equal(lastCompleteMonthEnd('2024-10-31'), '2024-09-30');
  t.equal(lastCompleteMonthEnd('2025-01-31'), '2024-12-31');
  t.end();
});
