import { addDays, countDays } from '../domain/dates.ts';
import { type IndexedKeyword, selectKeywords } from '../domain/groups.ts';
import type { Measures } from '../domain/metrics.ts';
import { selectRows } from '../domain/select-rows.ts';
import { readAhead } from '../runtime/read-ahead.ts';
import { inTurns } from '../runtime/turns.ts';
import { type DayGrid, fitsInGrid, gridBatches } from './day-grid.ts';
import type {
  DaysQuery,
  Facts,
  KeywordDays,
  KeywordDaysQuery,
  KeywordPage,
  KeywordsQuery,
  StoredRange,
} from './facts.ts';

/** See `Facts.keywordPage`. */
export async function keywordPage<K extends IndexedKeyword>(
  facts: Pick<Facts, 'keywordTotals'>,
  query: KeywordsQuery<K>,
): Promise<KeywordPage<K>> {
  const { tracked, matches, selection, device, limit, offset, signal } = query;
  const totals = await facts.keywordTotals(query, device, tracked.indexes);
  const measuresOf = (keyword: K): Measures => totals.of(keyword);
  const grouped = matches ? await inTurns(selectKeywords(tracked.keywords, matches, measuresOf)) : tracked.keywords;
  const hasSelection = selection.filter !== null || selection.sort !== null;
  const chosen = hasSelection
    ? await inTurns(selectRows(grouped, selection, { measuresOf, textsOf }), signal)
    : grouped;
  const page = chosen.slice(offset, limit === null ? undefined : offset + limit);
  return { total: chosen.length, keywords: page, totals };
}

function textsOf({ query, intent, source }: IndexedKeyword): { query: string; intent: string; source: string } {
  return { query, intent, source };
}

/** See `Facts.keywordDayBatches`. */
export async function* keywordDayBatches<K extends IndexedKeyword>(
  facts: Pick<Facts, 'keywordDays'>,
  { device, signal, days, base }: KeywordDaysQuery,
  page: readonly K[],
): AsyncGenerator<KeywordDays<K>> {
  const batches = readAhead(gridBatches(page, days.range), async (keywords, index) => {
    // The first batch has priority: responses start early, and short ones (one batch) do not wait for long ones.
    const priority = index === 0 ? 1 : 0;
    const ids = keywords.map(({ id }) => id);
    const read = ({ files, range }: StoredRange): Promise<DayGrid> =>
      facts.keywordDays({ files, range, signal }, device, ids, priority);
    if (base === undefined) return { keywords, days: folded(await read(days), days), base };
    const both = inOneRange(base, days);
    if (both !== undefined && fitsInGrid(keywords.length, both.range)) {
      const grid = await read(both);
      const first = countDays(base.range.from, base.range.to);
      const [earlier, later] = [grid.slice(0, first), grid.slice(first, grid.days.length)];
      grid.release();
      return { keywords, days: folded(later, days), base: folded(earlier, base) };
    }
    const [inRange, inBase] = await Promise.all([read(days), read(base)]);
    return { keywords, days: folded(inRange, days), base: folded(inBase, base) };
  });
  for await (const batch of batches) {
    yield batch;
    // Whoever wanted a batch has written it when the next one is wanted.
    batch.days.release();
    batch.base?.release();
  }
}

function folded(grid: DayGrid, { sums }: DaysQuery): DayGrid {
  if (sums === undefined) return grid;
  const sum = grid.fold(sums);
  grid.release();
  return sum;
}

/** Joins two consecutive ranges, because one statement is faster than two; undefined for others. */
function inOneRange(first: DaysQuery, second: DaysQuery): StoredRange | undefined {
  if (addDays(first.range.to, 1) !== second.range.from) return undefined;
  const files = new Map([...first.files, ...second.files].map((file) => [file.file, file]));
  return { files: [...files.values()], range: { from: first.range.from, to: second.range.to } };
}
