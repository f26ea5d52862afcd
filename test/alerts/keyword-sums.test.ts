// Keyword sums read from cumulative totals equal those read from single days.
import t from 'tap';
import { readKeywordSums } from '../../server/alerts/keyword-sums.ts';
import { withFacts } from '../../server/alerts/with-facts.ts';
import { keywordFilesUntil } from '../../server/catalog/manifest.ts';
import { countDays, eachDay } from '../../server/domain/dates.ts';
import { keyword, makeLazyWorld, type Row } from '../world.ts';

/** Impressions of a keyword on a day, counted from the first one; 0: no row. */
const SHOWN: Readonly<Record<string, (day: number) => number>> = {
  KwAaa: (day) => 3 + (day % 5),
  KwBbb: (day) => (day % 4 === 0 ? 7 : 0),
  // From the last month on.
  KwCcc: (day) => (day >= 100 ? 2 : 0),
};
const FIRST = '2026-01-20';
const LAST = '2026-05-20';

t.test('cumulative totals give the sums of days that days give, with and without all months', async (t) => {
  const rows = eachDay(FIRST, LAST).flatMap((date, day): Row[] => {
    // A month without any row, and so without a file; the one before has 31 days.
    if (date.startsWith('2026-04')) return [];
    return ['mobile', 'desktop'].flatMap((device) =>
      Object.entries(SHOWN).flatMap(([id, shownOn]): Row[] => {
        const impressions = shownOn(day);
        const row = { project_id: 'Proj1', keyword_id: id, date, device, clicks: 1, impressions };
        return impressions === 0 ? [] : [{ ...row, sum_position: impressions * (day % 9) }];
      }),
    );
  });
  const ids = Object.keys(SHOWN);
  const world = await makeLazyWorld(t, { keywords: ids.map((id) => keyword(id, id)), keyword_daily: rows });
  await withFacts(world, async (facts) => {
    for (const [from, to] of [
      [FIRST, LAST],
      ['2026-01-01', '2026-02-28'],
      ['2026-02-01', '2026-05-01'],
      ['2026-04-10', '2026-05-31'],
      ['2026-04-15', '2026-04-15'],
      ['2025-11-01', '2025-12-31'],
    ] as const) {
      const files = await keywordFilesUntil(world.catalog, 'Proj1', to, true);
      const range = { from, to };
      const query = { range, signal: new AbortController().signal };
      // An id that has no row, and the others in another order.
      const named = ['KwCcc', 'KwZzz', 'KwAaa', 'KwBbb'];
      const expected = named.map((id) =>
        eachDay(from, to).map((date) => {
          const own = rows.filter((row) => row['keyword_id'] === id && row['date'] === date);
          const sum = (name: string): number => own.reduce((total, row) => total + Number(row[name]), 0);
          return [sum('impressions'), sum('sum_position')];
        }),
      );
      const days = countDays(from, to);
      for (const own of [files, { ...files, cumulative: [] }]) {
        const { impressions, positions } = await readKeywordSums(facts, { ...query, files: own }, named);
        const found = named.map((_, place) =>
          Array.from({ length: days }, (_day, day) => {
            const at = place * (days + 1) + day;
            return [impressions[at + 1]! - impressions[at]!, positions[at + 1]! - positions[at]!];
          }),
        );
        t.same(found, expected, `${from} to ${to}, ${own.cumulative.length} files of cumulative totals`);
      }
    }
  });
});
