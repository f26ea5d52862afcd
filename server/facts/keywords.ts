import { addDays, countDays } from '../domain/dates.ts';
import { type GroupMatch, type IndexedKeyword, selectKeywords } from '../domain/groups.ts';
import type { Measures } from '../domain/metrics.ts';
import { type Selection, selectRows } from '../domain/select-rows.ts';
import { readAhead } from '../runtime/read-ahead.ts';
import { inTurns } from '../runtime/turns.ts';
import { type DayGrid, fitsInGrid, type GridPart, gridParts } from './day-grid.ts';
import type { Device, Facts, FactsQuery } from './facts.ts';
import type { KeywordTotalsPlan } from './keyword-plan.ts';
import type { KeywordTotals } from './keyword-totals.ts';

interface KeywordsQuery<K extends IndexedKeyword> extends Omit<FactsQuery, 'files'> {
  /** How to compute totals. */
  readonly totals: KeywordTotalsPlan;
  /** All keywords of the project, in the order of the response. */
  readonly tracked: {
    readonly keywords: readonly K[];
    readonly indexes: ReadonlyMap<number, number>;
  };
  /** Restricts the result to the keywords of these groups. */
  readonly matches: readonly GroupMatch[] | undefined;
  readonly selection: Selection;
  readonly device: Device;
  /** Null: all of them. */
  readonly limit: number | null;
  readonly offset: number;
}

/** A page of the keywords that match, and the totals of all keywords over the range. */
export async function keywordPage<K extends IndexedKeyword>(
  facts: Facts,
  query: KeywordsQuery<K>,
): Promise<{ total: number; keywords: readonly K[]; totals: KeywordTotals }> {
  const { tracked, matches, selection, device, limit, offset, totals: plan } = query;
  const totals = await facts.keywordTotals({ ...query, plan }, device, tracked.indexes);
  const measuresOf = (keyword: K): Measures => totals.of(keyword);
  const grouped = matches ? await inTurns(selectKeywords(tracked.keywords, matches, measuresOf)) : tracked.keywords;
  const isAsked = selection.filter !== null || selection.sort !== null;
  const chosen = isAsked ? await inTurns(selectRows(grouped, selection, { measuresOf, textsOf })) : grouped;
  const page = chosen.slice(offset, limit === null ? undefined : offset + limit);
  return { total: chosen.length, keywords: page, totals };
}

function textsOf({ query, intent, source }: IndexedKeyword): { query: string; intent: string; source: string } {
  return { query, intent, source };
}

/** The days of a range, or sums of some of them. */
export interface DaysQuery extends Omit<FactsQuery, 'signal'> {
  /** The days to sum; undefined for single days. */
  readonly parts?: readonly GridPart[] | undefined;
}

/** Some of the keywords of a page with their days. */
export interface KeywordDays<K> {
  readonly keywords: readonly K[];
  readonly days: DayGrid;
  /** At each index the day to compare with; undefined without a comparison. */
  readonly base: DayGrid | undefined;
}

/**
 * The days of the keywords of a page, and those to compare them with, for some keywords at a time. The next part is
 * read while one is written, so that a long response takes the longer of both times, not their sum.
 */
export function keywordDays<K extends IndexedKeyword>(
  facts: Facts,
  {
    device,
    signal,
    days,
    base,
  }: { device: Device; signal: AbortSignal; days: DaysQuery; base?: DaysQuery | undefined },
  page: readonly K[],
): AsyncGenerator<KeywordDays<K>> {
  return readAhead(gridParts(page, days.range), async (keywords, index) => {
    // The first part has priority: responses start early, and short ones (one part) do not wait for long ones.
    const priority = index === 0 ? 1 : 0;
    const ids = keywords.map(({ id }) => id);
    const read = ({ files, range }: Omit<FactsQuery, 'signal'>): Promise<DayGrid> =>
      facts.keywordDays({ files, range, signal }, device, ids, priority);
    if (base === undefined) return { keywords, days: folded(await read(days), days), base };
    const both = inOneRange(base, days);
    if (both !== undefined && fitsInGrid(keywords.length, both.range)) {
      const grid = await read(both);
      const first = countDays(base.range.from, base.range.to);
      return {
        keywords,
        days: folded(grid.slice(first, grid.days.length), days),
        base: folded(grid.slice(0, first), base),
      };
    }
    const [inRange, inBase] = await Promise.all([read(days), read(base)]);
    return { keywords, days: folded(inRange, days), base: folded(inBase, base) };
  });
}

function folded(grid: DayGrid, { parts }: DaysQuery): DayGrid {
  return parts === undefined ? grid : grid.fold(parts);
}

/** Joins two consecutive ranges, because one statement is faster than two; undefined for others. */
function inOneRange(first: DaysQuery, second: DaysQuery): Omit<FactsQuery, 'signal'> | undefined {
  if (addDays(first.range.to, 1) !== second.range.from) return undefined;
  const files = new Map([...first.files, ...second.files].map((file) => [file.file, file]));
  return { files: [...files.values()], range: { from: first.range.from, to: second.range.to } };
}
