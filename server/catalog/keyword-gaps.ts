import { addDays, type Day, later } from '../domain/dates.ts';
import { EVERY_DAY, type Range, spanOf, withoutRange } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';
import { isLoaded, readCoverage } from './manifest.ts';

/** Stored days on which a keyword is unknown. */
interface Gap extends Range {
  /** If the sync is going to fetch these days: those that it has fetched so far, null for none. */
  readonly fetched?: Range | null;
}

/** The stored days on which keywords are unknown, by their ids; other keywords are known on all stored days. */
export type KeywordGaps = ReadonlyMap<string, readonly Gap[]>;

/** All unknown days of a keyword. */
export interface KeywordGap {
  readonly project: string;
  readonly keyword: string;
  readonly ranges: readonly Range[];
}

/**
 * The days of a range on which tracked keywords are unknown: they were tracked after others had these days, and neither a
 * load nor the sync has brought theirs since.
 */
export async function readKeywordGaps(catalog: Catalog, project: string, range: Range): Promise<KeywordGaps> {
  const { from, to } = range;
  const gaps = new Map<string, Gap[]>(await storedGaps(catalog, project, range));
  const batches = catalog.statements.each<NotFetched>('keyword-gaps.not_fetched', { project, from, to });
  for await (const rows of batches) {
    for (const row of rows) gaps.set(row.keyword, [...(gaps.get(row.keyword) ?? []), ...notFetched(row)]);
  }
  return gaps;
}

/** Whether a keyword is unknown on a day of a range. */
export function lacksDays(gaps: KeywordGaps, keyword: string, range: Range): boolean {
  return gaps.get(keyword)?.some((gap) => overlap(gap, range)) ?? false;
}

/**
 * Whether the total of a keyword over a range is unknown. Days that the sync is going to fetch are left out of sums, as those
 * of the site are, unless nothing is left.
 */
export function isUnknownIn(gaps: KeywordGaps, keyword: string, range: Range): boolean {
  const isUnknown = (gap: Gap): boolean => overlap(gap, range) && !(gap.fetched && overlap(gap.fetched, range));
  return gaps.get(keyword)?.some(isUnknown) ?? false;
}

/** The keywords whose totals over a range are unknown. */
export function unknownIn(gaps: KeywordGaps, range: Range): Set<string> {
  return new Set([...gaps.keys()].filter((keyword) => isUnknownIn(gaps, keyword, range)));
}

function overlap(a: Range, b: Range): boolean {
  return a.from <= b.to && a.to >= b.from;
}

interface NotFetched extends Range {
  readonly keyword: string;
  readonly firstFetched: Day | null;
  readonly lastFetched: Day | null;
}

function notFetched({ from, to, firstFetched, lastFetched }: NotFetched): Gap[] {
  if (firstFetched === null) return [{ from, to, fetched: null }];
  const fetched = { from: firstFetched, to: lastFetched! };
  return withoutRange({ from, to }, fetched).map((gap) => ({ ...gap, fetched }));
}

async function storedGaps(
  catalog: Catalog,
  project: string,
  { from, to }: Range,
  withArchived = false,
): Promise<Map<string, Range[]>> {
  const gaps = new Map<string, Range[]>();
  const values = { project, from, to, archived: Number(withArchived) };
  const batches = catalog.statements.each<Range & { keyword: string }>('keyword-gaps.in_range', values);
  for await (const rows of batches) {
    for (const { keyword, ...range } of rows) {
      const ranges = gaps.get(keyword);
      if (ranges === undefined) gaps.set(keyword, [range]);
      else ranges.push(range);
    }
  }
  return gaps;
}

/** The unknown days of all keywords that have some. */
export async function* eachKeywordGap(catalog: Catalog): AsyncGenerator<KeywordGap> {
  let gap: { project: string; keyword: string; ranges: Range[] } | undefined;
  type Row = Range & { readonly project: string; readonly keyword: string };
  for await (const rows of catalog.statements.each<Row>('keyword-gaps.all')) {
    for (const { project, keyword, ...range } of rows) {
      if (gap?.project === project && gap.keyword === keyword) {
        gap.ranges.push(range);
        continue;
      }
      if (gap !== undefined) yield gap;
      gap = { project, keyword, ranges: [range] };
    }
  }
  if (gap !== undefined) yield gap;
}

/** Replaces the unknown days of keywords. */
export async function putKeywordGaps(tx: Catalog, gaps: readonly KeywordGap[]): Promise<void> {
  await tx.statements.runEach(
    'keyword-gaps.forget',
    gaps.map(({ project, keyword }) => ({ project, keyword })),
  );
  await tx.statements.runEach(
    'keyword-gaps.add',
    gaps.flatMap(({ project, keyword, ranges }) => ranges.map(({ from, to }) => ({ project, keyword, from, to }))),
  );
}

/** Makes keywords that have just been tracked unknown on all stored days. Returns what has changed. */
export async function beginKeywords(tx: Catalog, project: string, keywords: readonly string[]): Promise<KeywordGap[]> {
  const stored = keywords.length === 0 ? null : await storedSpan(tx, project);
  if (stored === null) return [];
  const gaps = keywords.map((keyword) => ({ project, keyword, ranges: [stored] }));
  await putKeywordGaps(tx, gaps);
  return gaps;
}

/** Makes archived keywords unknown on days that will be stored. Returns what has changed. */
export async function pauseKeywords(tx: Catalog, project: string, keywords: readonly string[]): Promise<KeywordGap[]> {
  const stored = await storedSpan(tx, project);
  const from = stored === null ? EVERY_DAY.from : addDays(stored.to, 1);
  const gaps: KeywordGap[] = [];
  for (const keyword of keywords) {
    const before = await gapsOf(tx, project, keyword);
    gaps.push({ project, keyword, ranges: [...before.filter((gap) => gap.from < from), { from, to: EVERY_DAY.to }] });
  }
  await putKeywordGaps(tx, gaps);
  return gaps;
}

/** Makes a keyword that is no longer archived known on days that will be stored. Returns what has changed. */
export async function resumeKeyword(tx: Catalog, project: string, keyword: string): Promise<KeywordGap[]> {
  const stored = await storedSpan(tx, project);
  const future = { from: stored === null ? EVERY_DAY.from : addDays(stored.to, 1), to: EVERY_DAY.to };
  return fill(tx, new Map([[keyword, await gapsOf(tx, project, keyword)]]), project, [future]);
}

/** The keywords that stored days are known of: some, all, or those that are not archived. */
export type KnownKeywords = ReadonlySet<string> | 'all' | 'tracked';

/** Makes days known of keywords, for which they have been stored with rows or without. Returns what has changed. */
export async function fillKeywordGaps(
  tx: Catalog,
  project: string,
  days: readonly Range[],
  keywords: KnownKeywords,
): Promise<KeywordGap[]> {
  if (days.length === 0) return [];
  const isKnown = (keyword: string): boolean => typeof keywords === 'string' || keywords.has(keyword);
  const touched = [...(await storedGaps(tx, project, spanOf(days), keywords === 'all')).keys()].filter(isKnown);
  const gaps = new Map<string, readonly Range[]>();
  for (const keyword of touched) gaps.set(keyword, await gapsOf(tx, project, keyword));
  return fill(tx, gaps, project, days);
}

async function fill(tx: Catalog, gaps: KeywordGaps, project: string, days: readonly Range[]): Promise<KeywordGap[]> {
  const filled = [...gaps].flatMap(([keyword, before]): KeywordGap[] => {
    const ranges = days.reduce<readonly Range[]>(
      (left, known) => left.flatMap((gap) => withoutRange(gap, known)),
      before,
    );
    return JSON.stringify(ranges) === JSON.stringify(before) ? [] : [{ project, keyword, ranges }];
  });
  await putKeywordGaps(tx, filled);
  return filled;
}

async function gapsOf(tx: Catalog, project: string, keyword: string): Promise<Range[]> {
  return tx.statements.all<Range>('keyword-gaps.of_keyword', { project, keyword });
}

/** Forgets unknown days before a day, whose facts are dropped. */
export async function forgetKeywordGapsBefore(tx: Catalog, project: string, before: Day): Promise<void> {
  await tx.statements.run('keyword-gaps.end_before', { project, before });
  await tx.statements.run('keyword-gaps.begin_at', { project, before });
}

/** From the first to the last day on which a project's keywords are known; null for none. */
async function storedSpan(catalog: Catalog, project: string): Promise<Range | null> {
  const { keyword_daily: ofKeywords, site_daily: site } = await readCoverage(catalog, project);
  // Days of keywords without any row are loaded, too.
  if (ofKeywords === undefined && !(await isLoaded(catalog, project, 'keyword_daily'))) return null;
  const spans = [ofKeywords, site].filter((coverage) => coverage !== undefined);
  if (spans.length === 0) return null;
  return {
    from: (ofKeywords ?? site)!.firstDay,
    to: spans.map(({ lastDay }) => lastDay).reduce(later),
  };
}
