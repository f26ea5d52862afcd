// Totals from rollups equal the sums of the days that they come from, after any order of loads.
import { deepStrictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import t from 'tap';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { type Measures, NOTHING, sum, toMetrics } from '../../server/domain/metrics.ts';
import { cumulativeBatches } from '../../server/load/rollups.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { isNight } from '../night.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeLazyWorld } from '../world.ts';

const KEYWORDS = ['Kw001', 'Kw002', 'Kw003'];
const DEVICES = ['desktop', 'mobile', 'tablet'];
// The end of a month, a whole one, and the beginning of a third.
const FIRST = '2026-01-20';
const LAST = '2026-03-10';
const DAYS = eachDay(FIRST, LAST);

type Cell = readonly [keyword: string, date: string, device: string, ...measures: [number, number, number]];

const cell = fc.tuple(
  fc.constantFrom(...KEYWORDS),
  fc.constantFrom(...DAYS),
  fc.constantFrom(...DEVICES),
  fc.nat(50),
  fc.nat(1000),
  fc.nat(20_000),
);
/** A load: sparse rows, each key once. */
const load = fc.uniqueArray(cell, {
  minLength: 1,
  maxLength: 40,
  selector: ([id, day, device]) => `${id} ${day} ${device}`,
});
const range = fc
  .tuple(fc.nat(DAYS.length - 1), fc.nat(DAYS.length - 1))
  .map(([a, b]) => [DAYS[Math.min(a, b)]!, DAYS[Math.max(a, b)]!] as const);

t.test('totals over any range and device are the sums of the stored days, after any loads', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(load, { minLength: 1, maxLength: 3 }),
      fc.array(range, { minLength: 3, maxLength: 3 }),
      async (loads, ranges) => {
        const world = await makeLazyWorld(t, { keywords: KEYWORDS.map((id) => keyword(id, id)) });
        const stored = new Map<string, Cell>();
        for (const rows of loads) {
          await world.load({ keyword_daily: facts('keyword_id date device', ...rows) });
          const days = rows.map(([, day]) => day).sort();
          for (const [key, [, day]] of stored) if (day >= days[0]! && day <= days.at(-1)!) stored.delete(key);
          for (const row of rows) stored.set(row.slice(0, 3).join(' '), row);
        }
        t.match(
          await verify(world),
          { ok: true, problems: [] },
          'rollups that loads added to are those made from all days',
        );
        for (const [from, to] of [...ranges, [FIRST, LAST] as const]) {
          for (const device of ['all', ...DEVICES]) {
            const { body } = await world.ask(`/keywords?from=${from}&to=${to}&device=${device}&daily=1`);
            for (const { id, metrics, daily } of body.keywords) {
              const rows = [...stored.values()].filter(
                ([owner, day, on]) => owner === id && day >= from && day <= to && (device === 'all' || on === device),
              );
              const byDay = Map.groupBy(rows, ([, day]) => day);
              const days = [...byDay].sort(([a], [b]) => (a < b ? -1 : 1));
              const expected = {
                metrics: toMetrics(sum(rows.map(measures))),
                daily: days.map(([date, of]) => ({ date, ...toMetrics(sum(of.map(measures))) })),
              };
              // It throws, so that fast-check finds the smallest loads that differ.
              deepStrictEqual({ metrics, daily }, expected, `${id} ${device} ${from} ${to}`);
            }
          }
        }
      },
    ),
    { numRuns: isNight ? 6 : 3 },
  );
});

t.test('months that the range covers completely are read as sums, others as days', async (t) => {
  const rows = eachDay('2025-12-10', '2026-03-10').map(
    (day, index) => ['Kw001', day, 'mobile', 1, index + 1, 7] as const,
  );
  const world = await makeLazyWorld(t, {
    keywords: [keyword('Kw001', 'a')],
    keyword_daily: facts('keyword_id date device', ...rows),
  });
  const total = (from: string, to: string): Measures =>
    rows.filter(([, day]) => day >= from && day <= to).reduce((all, row) => sum([all, measures(row)]), NOTHING);
  for (const [from, to] of [
    ['2025-12-01', '2026-03-10'],
    ['2025-12-10', '2026-02-28'],
    ['2025-12-11', '2026-03-09'],
    ['2026-01-01', '2026-01-31'],
    ['2026-01-31', '2026-02-01'],
    [addDays('2026-03-10', -1), '2026-04-30'],
  ] as const) {
    const { body } = await world.ask(`/keywords?from=${from}&to=${to}`);
    t.strictSame(body.keywords[0].metrics, toMetrics(total(from, to)), `${from} to ${to}`);
  }
});

t.test('a load into an old month, and one that removes rows, affect all days after it', async (t) => {
  const rows = eachDay('2025-11-20', '2026-02-10').map((day) => ['Kw001', day, 'mobile', 1, 2, 7] as const);
  const world = await makeLazyWorld(t, {
    keywords: [keyword('Kw001', 'a'), keyword('Kw002', 'b')],
    keyword_daily: facts('keyword_id date device', ...rows),
  });
  const impressions = async (from: string, to: string): Promise<number[]> => {
    const { body } = await world.ask(`/keywords?from=${from}&to=${to}`);
    return (body.keywords as { metrics: Measures }[]).map(({ metrics }) => metrics.impressions);
  };
  t.strictSame(await impressions('2025-12-15', '2026-01-15'), [64, 0]);
  // A month before all others, with a keyword that no other month has.
  await world.load({ keyword_daily: facts('keyword_id date device', ['Kw002', '2025-10-05', 'mobile', 1, 500, 7]) });
  t.strictSame(await impressions('2025-12-15', '2026-01-15'), [64, 0]);
  t.strictSame(await impressions('2025-10-05', '2026-01-15'), [2 * 57, 500]);
  t.strictSame(await impressions('2025-10-06', '2026-01-15'), [2 * 57, 0]);
  // Twelve days in the middle become one row.
  await world.load({
    keyword_daily: facts(
      'keyword_id date device',
      ['Kw001', '2025-12-20', 'mobile', 1, 1000, 7],
      ['Kw002', '2025-12-31', 'tablet', 1, 30, 7],
    ),
  });
  t.strictSame(await impressions('2025-12-15', '2026-01-15'), [1000 + 2 * 20, 30]);
  t.strictSame(await impressions('2025-12-31', '2025-12-31'), [0, 30]);
  t.strictSame(await impressions('2026-01-01', '2026-01-15'), [30, 0]);
  t.match(await verify(world), { ok: true, problems: [] });
});

t.test('a history whose totals would no longer be exact is rejected', async (t) => {
  const months = ['2024', '2025'].flatMap((year) =>
    Array.from({ length: 12 }, (_, month) => `${year}-${String(month + 1).padStart(2, '0')}`),
  );
  const most = Math.floor(Number.MAX_SAFE_INTEGER / 20);
  const world = await makeLazyWorld(t, { keywords: [keyword('Kw001', 'a')] });
  const load = (some: readonly string[]) =>
    world.load({
      keyword_daily: facts(
        'keyword_id date device',
        ...some.map((month) => ['Kw001', `${month}-05`, 'mobile', 1, most, 7] as const),
      ),
    });
  await load(months.slice(0, 20));
  await t.rejects(load(months.slice(20)), { message: /too large to be exact in JSON/ });
  const { body } = await world.ask('/keywords?from=2024-12-01&to=2025-08-31');
  t.equal(body.keywords[0].metrics.impressions, 9 * most);
});

t.test(
  'a project that an older version loaded is answered from its days, and gets running totals by a load',
  localOnly,
  async (t) => {
    const months = ['2025-11', '2025-12', '2026-02', '2026-03'];
    const rows = months.map((month, index) => ['Kw001', `${month}-05`, 'mobile', 1, 10 ** index, 7] as const);
    const world = await makeLazyWorld(t, {
      keywords: [keyword('Kw001', 'a')],
      keyword_daily: facts('keyword_id date device', ...rows),
    });
    const impressions = async (): Promise<unknown> =>
      (await world.ask('/keywords?from=2025-11-01&to=2026-03-10')).body.keywords[0].metrics.impressions;
    const catalog = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
    t.teardown(() => catalog.close());
    // Version 0.2 had no cumulative totals.
    catalog.exec("delete from fact_files where fact_table = 'keyword_cumulative'");
    catalog.exec('update projects set facts_revision = facts_revision + 100');
    t.equal(await impressions(), 1111);
    // Older ones kept sums of months under another name.
    catalog.exec("update fact_files set fact_table = 'keyword_months' where fact_table = 'keyword_running'");
    catalog.exec(
      readFileSync(join(import.meta.dirname, '../../sql/catalog/migrations/0004-running-totals.sql'), 'utf8'),
    );
    const files = catalog.prepare(
      "select count(*) as count from fact_files where fact_table like 'keyword_%' and part = 'all'",
    );
    t.equal(files.get()!['count'], 0);
    catalog.exec('update projects set facts_revision = facts_revision + 100');
    t.equal(await impressions(), 1111);
    await world.load({ keyword_daily: facts('keyword_id date device', ['Kw001', '2026-02-05', 'mobile', 1, 500, 7]) });
    t.equal(files.get()!['count'], 1);
    t.equal(await impressions(), 1511);
    const cumulative = catalog.prepare(
      "select part from fact_files where fact_table = 'keyword_cumulative' order by part",
    );
    t.strictSame(
      cumulative.all().map(({ part }) => part),
      months,
      'also of the months that the load did not touch',
    );
    t.match(await verify(world), { ok: true, problems: [] });
  },
);

t.test('cumulative totals of small months are summed together, of large ones alone', async (t) => {
  const bytes = (size: number) => ({ file: '', bytes: size, sha256: '', firstDay: FIRST, lastDay: LAST });
  const of = (running: number, ...sizes: readonly (number | null)[]): string[] => {
    const months = sizes.map((size, index) => ({ part: String(index), days: size === null ? null : bytes(size) }));
    return cumulativeBatches(months, bytes(running)).map((batch) => batch.map(({ part }) => part).join(' '));
  };
  t.strictSame(of(1000, 5000, null, 5000), ['0 1 2']);
  t.strictSame(of(1000, 5000, 5_000_000, 5000, 5000), ['0', '1', '2 3']);
  t.strictSame(of(900_000, 1, 1, 1), ['0 1', '2'], 'each month begins with the running totals');
  t.strictSame(of(1000), []);
});

function measures([, , , clicks, impressions, sumPosition]: Cell): Measures {
  return { clicks, impressions, sumPosition };
}
