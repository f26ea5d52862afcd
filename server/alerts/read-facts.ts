import type { SyncedDays } from '../catalog/evaluations.ts';
import { countDays, type Day, eachDay } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { type DailySums, runningSums } from './daily-sums.ts';
import {
  type AlertKeyword,
  emptyGrid,
  KeywordFacts,
  type KeywordGrid,
  NO_PAGES,
  type PageFacts,
} from './keyword-facts.ts';
import { StoredDays } from './stored-days.ts';
import type { SiteFacts } from './traffic-replay.ts';

/** The current files of the tables that checks read, in a range. */
export interface AlertFiles {
  readonly site: readonly StoredFile[];
  readonly keywords: readonly StoredFile[];
  readonly pages: readonly StoredFile[];
}

export interface ProjectFacts {
  readonly site: SiteFacts;
  readonly keywords: KeywordFacts;
}

/** Reads the facts for all checks of a project, once for all keywords and days. */
export async function readProjectFacts(
  facts: Facts,
  { files, range, signal }: { files: AlertFiles; range: Range; signal: AbortSignal },
  keywords: readonly AlertKeyword[],
  synced: Readonly<Record<keyof AlertFiles, SyncedDays>>,
): Promise<ProjectFacts> {
  const days = countDays(range.from, range.to);
  const queryOf = (table: keyof AlertFiles): FactsQuery => ({ files: files[table], range, signal });
  const ids = keywords.map(({ id }) => id);

  // Concurrently: one query fills its arrays while another waits for the engine.
  const [siteDays, { grid, shown }, pages, pageDays] = await Promise.all([
    facts.siteDays(queryOf('site'), 'all'),
    readGrid(facts, queryOf('keywords'), ids),
    readPages(facts, queryOf('pages'), keywords),
    facts.storedDays(queryOf('pages')),
  ]);
  const clicks = new Float64Array(days);
  for (const { date, clicks: own } of siteDays) clicks[countDays(range.from, date) - 1] = own;
  const published = siteDays.map(({ date }) => date);
  const stored = storedDays(range, published, shown, synced.keywords);
  const storedPages = storedDays(range, published, pageDays, synced.pages);
  return {
    site: { clicks, stored: daysOf(range, new Set(published), synced.site) },
    keywords: new KeywordFacts(keywords, days, grid, { stored, pages: { ...pages, stored: storedPages } }),
  };
}

/** The daily values of all keywords, and the days on which any keyword was shown. */
async function readGrid(
  facts: Facts,
  query: FactsQuery,
  ids: readonly string[],
): Promise<{ grid: KeywordGrid; shown: Day[] }> {
  const days = eachDay(query.range.from, query.range.to);
  const grid = emptyGrid(ids.length, days.length);
  const isShown = new Uint8Array(days.length);
  await facts.keywordImpressions(query, ids, ([cells, impressions, positions], rows) => {
    for (let row = 0; row < rows; row++) {
      const cell = cells![row]!;
      grid.impressions[cell] = impressions![row]!;
      grid.positions[cell] = positions![row]!;
      isShown[(cell % (days.length + 1)) - 1] = 1;
    }
  });
  return { grid, shown: days.filter((_, day) => isShown[day] === 1) };
}

/** Prefix sums of a subject by day. @param stored the stored days, including days without rows */
export function dailySums(range: Range, rows: readonly DayMeasures[], stored: StoredDays): DailySums {
  const days = countDays(range.from, range.to);
  const [clicks, impressions, positions] = [0, 1, 2].map(() => new Float64Array(days)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  for (const row of rows) {
    const day = countDays(range.from, row.date) - 1;
    clicks[day] = row.clicks;
    impressions[day] = row.impressions;
    positions[day] = row.sumPosition;
  }
  return {
    clicks: runningSums(clicks),
    impressions: runningSums(impressions),
    positions: runningSums(positions),
    stored,
  };
}

/**
 * The stored days of a table. A day without rows counts as stored if site totals exist, because a snapshot or sync loads
 * all tables together. Without site totals, all days from the first one count. The state of the sync takes precedence.
 */
export function storedDays(range: Range, site: readonly Day[], own: readonly Day[], synced?: SyncedDays): StoredDays {
  const [first] = own;
  if (first === undefined) return daysOf(range, new Set(), synced);
  const days = site.length > 0 ? [...site.filter((day) => day >= first), ...own] : eachDay(first, range.to);
  return daysOf(range, new Set(days), synced);
}

export function daysOf({ from, to }: Range, stored: ReadonlySet<Day>, synced: SyncedDays = new Map()): StoredDays {
  return new StoredDays(eachDay(from, to).map((day) => synced.get(day) ?? stored.has(day)));
}

/** Reads the URLs of the pages of some keywords, for texts. */
export async function readPageNames(
  facts: Facts,
  { files: { pages }, range, signal }: { files: AlertFiles; range: Range; signal: AbortSignal },
  keywords: readonly string[],
): Promise<ReadonlyMap<number, string>> {
  if (keywords.length === 0) return new Map();
  return facts.keywordPageNames({ files: pages, range, signal }, keywords);
}

/** Page rows of the keywords that can have an alert: those with several pages or a target page. */
async function readPages(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly AlertKeyword[],
): Promise<Omit<PageFacts, 'stored'>> {
  if (query.files.length === 0) return NO_PAGES;
  const places = new Map(keywords.map(({ id }, place) => [id, place]));
  const counts = (await facts.keywordPageCounts(query))
    .flatMap((count) => {
      const place = places.get(count.keyword);
      return place !== undefined && (count.several || keywords[place]!.targetUrl !== null) ? [{ ...count, place }] : [];
    })
    .sort((a, b) => a.place - b.place);
  const read = counts.map(({ keyword }) => keyword);
  if (read.length === 0) return NO_PAGES;

  const starts = new Int32Array(keywords.length + 1);
  for (const { place, rows } of counts) starts[place + 1] = rows;
  for (let place = 0; place < keywords.length; place++) starts[place + 1]! += starts[place]!;
  const total = starts[keywords.length]!;
  const [days, pages, impressions] = [new Int32Array(total), new Float64Array(total), new Float64Array(total)];
  // Files arrive by month, with rows by keyword and day, so each keyword's rows are appended in order.
  const ends = starts.slice(0, -1);
  await facts.keywordPages(query, read, ([keyword, day, page, shown], rows) => {
    for (let row = 0; row < rows; row++) {
      const at = ends[counts[keyword![row]!]!.place]!++;
      days[at] = day![row]!;
      pages[at] = page![row]!;
      impressions[at] = shown![row]!;
    }
  });
  return {
    ...{ starts, days, pages, impressions },
    urls: new Map(),
    targets: await readTargets(facts, query.signal, keywords),
  };
}

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
