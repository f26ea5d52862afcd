// Totals from rollups equal the sums of the days that they come from, after any order of loads.
import { deepStrictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import t from 'tap';
import { eachDay } from '../../server/domain/dates.ts';
import { type Measures, sum, toMetrics } from '../../server/domain/metrics.ts';
import { verify } from '../../server/maintenance/verify.ts';
import { isNight } from '../night.ts';
import { localOnly } from '../stores.ts';
import { facts, keyword, makeLazyWorld, NOW } from '../world.ts';

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

/** Stored days at the edges of months, of which one has none; clicks whose sums say which days were counted, and how often. */
const EDGES = ['2025-11-20', '2025-11-30', '2025-12-31', '2026-01-01', '2026-01-31', '2026-03-01', '2026-03-10'];
const ROWS = EDGES.flatMap((day, index): Cell[] => [
  ['Kw001', day, 'mobile', 4 ** index, 5 ** 8, 7],
  ...(index % 3 === 1 ? [['Kw002', day, 'desktop', 2 * 4 ** index, 5 ** 8, 3] as const] : []),
]);

t.test('each stored day of a range counts once, and no other day, from any kind of totals', localOnly, async (t) => {
  // More requests than a key may send in a minute.
  let now = NOW;
  const world = await makeLazyWorld(
    t,
    {
      keywords: KEYWORDS.map((id) => keyword(id, id)),
      keyword_daily: facts('keyword_id date device', ...ROWS),
    },
    { now: () => (now += 2000) },
  );
  const ends = ['2025-11-01', '2025-12-01', '2026-02-01', '2026-03-02', '2026-04-30', ...EDGES].sort();
  const ranges = ends.flatMap((from) => ends.filter((to) => to >= from).map((to) => [from, to] as const));
  const clicks = async (device: string): Promise<string[]> => {
    const all: string[] = [];
    for (const [from, to] of ranges) {
      const { body } = await world.ask(`/keywords?from=${from}&to=${to}&device=${device}`);
      const totals = (body.keywords as { metrics: Measures }[]).map(({ metrics }) => metrics.clicks);
      all.push(`${from} ${to}: ${totals.join(' ')}`);
    }
    return all;
  };
  const expected = (device: string): string[] =>
    ranges.map(([from, to]) => {
      const of = (id: string): number =>
        ROWS.filter(([owner, day, on]) => owner === id && day >= from && day <= to && [on, 'all'].includes(device))
          .map(([, , , clicks]) => clicks)
          .reduce((sum, one) => sum + one, 0);
      return `${from} ${to}: ${KEYWORDS.map(of).join(' ')}`;
    });
  t.strictSame(await clicks('all'), expected('all'), 'cumulative totals');
  t.strictSame(await clicks('mobile'), expected('mobile'), 'running totals and days');

  // A load makes both kinds of totals; an older version may have left none of them.
  using catalog = new DatabaseSync(join(world.dataFolder, 'catalog.sqlite'));
  const parts = catalog.prepare('select part from fact_files where fact_table = ? order by part');
  for (const [what, change] of [
    ['one month lacks them', "delete from fact_files where fact_table = 'keyword_cumulative' and part = '2026-01'"],
    ['without cumulative totals', "delete from fact_files where fact_table = 'keyword_cumulative'"],
    ['from days alone', "delete from fact_files where fact_table = 'keyword_running'"],
  ] as const) {
    catalog.exec(change);
    catalog.exec('update projects set facts_revision = facts_revision + 100');
    t.strictSame(await clicks('all'), expected('all'), what);
  }
  t.strictSame(parts.all('keyword_running'), []);
  await world.load({ keyword_daily: facts('keyword_id date device', ...ROWS.slice(-1)) });
  t.strictSame(
    parts.all('keyword_cumulative').map(({ part }) => part),
    ['2025-11', '2025-12', '2026-01', '2026-03'],
    'a load makes them, also of the months that it does not touch',
  );
  t.strictSame(await clicks('all'), expected('all'));
  t.match(await verify(world), { ok: true, problems: [] });
});

function measures([, , , clicks, impressions, sumPosition]: Cell): Measures {
  return { clicks, impressions, sumPosition };
}
