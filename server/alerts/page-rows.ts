import { addDays, type Day } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import { toPrefixSums } from './daily-sums.ts';
import { type AlertKeyword, NO_PAGES, type PageFacts } from './keyword-facts.ts';
import { PageCandidates } from './page-candidates.ts';

/**
 * Reads the page rows of the keywords that matter to a check: those whose alerts can open, and those of `open`, whose
 * alerts can resolve. `days`: the days on which any keyword has rows.
 */
export async function readPageRows(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly AlertKeyword[],
  open: ReadonlySet<string>,
): Promise<{ rows: Omit<PageFacts, 'stored'>; days: Day[] }> {
  if (query.files.length === 0) return { rows: NO_PAGES, days: [] };
  const numbers = new Map(keywords.map(({ id }, index) => [shortIdNumber(id), index]));
  const targets = await readTargets(facts, query.signal, keywords);
  const candidates = new PageCandidates(numbers);
  await facts.keywordPages(query, 'all', (columns, rows) => candidates.add(columns, rows));
  const days = [...candidates.days].sort((a, b) => a - b).map((day) => addDays(query.range.from, day));

  const indexes = keywords.flatMap(({ id }, index) =>
    candidates.canOpen(index, targets[index]!) || open.has(id) ? [index] : [],
  );
  if (indexes.length === 0) return { rows: { ...NO_PAGES, targets }, days };
  const starts = new Int32Array(keywords.length + 1);
  for (const index of indexes) starts[index + 1] = candidates.rows[index]!;
  toPrefixSums(starts);
  const total = starts[keywords.length]!;
  const rows = { days: new Int32Array(total), pages: new Float64Array(total), impressions: new Float64Array(total) };
  const ends = starts.slice(0, -1);
  const read = indexes.map((index) => keywords[index]!.id);
  await facts.keywordPages(query, read, ([keyword, day, page, shown], count) => {
    for (let row = 0; row < count; row++) {
      const at = ends[numbers.get(keyword![row]!)!]!++;
      rows.days[at] = day![row]!;
      rows.pages[at] = page![row]!;
      rows.impressions[at] = shown![row]!;
    }
  });
  for (const index of indexes) sortByDay(rows, starts[index]!, starts[index + 1]!);
  return { rows: { ...rows, starts, targets, urls: new Map() }, days };
}

/** Sorts the rows of a keyword by day. Usually they are sorted: files arrive by month, with rows by keyword and day. */
function sortByDay(
  { days, pages, impressions }: Pick<PageFacts, 'days' | 'pages' | 'impressions'>,
  start: number,
  end: number,
): void {
  let row = start + 1;
  while (row < end && days[row - 1]! <= days[row]!) row++;
  if (row >= end) return;
  const order = Array.from({ length: end - start }, (_, index) => start + index).sort((a, b) => days[a]! - days[b]!);
  for (const values of [days, pages, impressions])
    values.set(
      order.map((from) => values[from]!),
      start,
    );
}

/** The page that should rank for each keyword; NaN for none. */
async function readTargets(
  facts: Facts,
  signal: AbortSignal,
  keywords: readonly AlertKeyword[],
): Promise<Float64Array> {
  const urls = [...new Set(keywords.flatMap(({ targetUrl }) => targetUrl ?? []))];
  const numbers = urls.length === 0 ? [] : await facts.pageNumbers(urls, signal);
  const byUrl = new Map(urls.map((url, index) => [url, numbers[index]!]));
  return Float64Array.from(keywords, ({ targetUrl }) => (targetUrl === null ? Number.NaN : byUrl.get(targetUrl)!));
}
