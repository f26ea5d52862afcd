import {
  findEvaluation,
  listAlertRules,
  listNotes,
  readKeywordTargets,
  type StoredEvaluation,
  type StoredRule,
  type SyncedDays,
  type SyncedTables,
} from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  type KeywordGaps,
  listPageGroups,
  type PageGroup,
  type TrackedKeywords,
  TrackedKeywordsCache,
} from '../catalog/keywords.ts';
import { type Project, requireProject } from '../catalog/projects.ts';
import { addDays, countDays, type Day, eachDay, earlier, later, pacificDayOf } from '../domain/dates.ts';
import { settledDay } from '../domain/finality.ts';
import { haveDay, type Range } from '../domain/range.ts';
import { undividedDays } from '../facts/days.ts';
import type { DayMeasures, Facts, FactsQuery } from '../facts/facts.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { type AlertNote, type DailySums, StoredDays, toPrefixSums } from './calendar.ts';
import {
  type AlertKeyword,
  type KeywordDayFiles,
  KeywordFacts,
  type KeywordGrid,
  readKeywordSums,
  readPageRows,
} from './keyword-facts.ts';
import type { SiteFacts } from './traffic.ts';

export interface EvaluationStores {
  readonly catalog: Catalog;
  readonly facts: Facts;
}

/** The current files of the tables that checks read, in a range. */
export interface AlertFiles {
  readonly site: readonly StoredFile[];
  readonly keywords: KeywordDayFiles;
  readonly pages: readonly StoredFile[];
}

export interface ProjectFacts {
  readonly site: SiteFacts;
  readonly keywords: KeywordFacts;
}

interface ProjectQuery {
  readonly files: AlertFiles;
  readonly range: Range;
  readonly signal: AbortSignal;
  /** Whether days are complete, as far as the sync knows. */
  readonly synced: SyncedTables;
  readonly gaps: KeywordGaps;
  /** Ids of keywords whose page alerts can resolve. */
  readonly open: ReadonlySet<string>;
}

/** Reads the facts for all checks of a project, once for all keywords and days. */
export async function readProjectFacts(
  facts: Facts,
  { files, range, signal, synced, gaps, open }: ProjectQuery,
  keywords: readonly AlertKeyword[],
): Promise<ProjectFacts> {
  const days = countDays(range.from, range.to);
  const queryOf = (files: readonly StoredFile[]): FactsQuery => ({ files, range, signal });
  const ids = keywords.map(({ id }) => id);

  // Concurrently: one query fills its arrays while another waits for the engine.
  const [siteDays, devices, sums, pages] = await Promise.all([
    facts.siteDays(queryOf(files.site), 'all'),
    facts.siteDevices(queryOf(files.site)),
    readKeywordSums(facts, { files: files.keywords, range, signal }, ids),
    readPageRows(facts, queryOf(files.pages), keywords, open),
  ]);
  const clicks = new Float64Array(days);
  for (const { date, clicks: clicksOfDay } of siteDays) clicks[countDays(range.from, date) - 1] = clicksOfDay;
  const published = siteDays.map(({ date }) => date);
  const undivided = undividedDays(devices);
  const stored = storedDays(range, published, shownDays(range, sums), synced.keyword_daily, undivided);
  const storedPages = storedDays(range, published, pages.days, synced.keyword_page_daily, undivided);
  return {
    site: { clicks, stored: daysOf(range, new Set(published), synced.site_daily) },
    keywords: new KeywordFacts(keywords, days, sums, {
      stored,
      pages: { ...pages.rows, stored: storedPages },
      gaps: gapsByIndex(gaps, keywords, range),
    }),
  };
}

/** The unknown days of keywords by their indexes, both counted from 0. */
function gapsByIndex(gaps: KeywordGaps, keywords: readonly AlertKeyword[], { from: first, to: last }: Range) {
  const found = new Map<number, { from: number; to: number }[]>();
  if (gaps.size === 0) return found;
  for (const [index, { id }] of keywords.entries()) {
    const ranges = gaps.get(id)?.map(({ from, to }) => ({
      from: countDays(first, later(from, first)) - 1,
      to: countDays(first, earlier(to, last)) - 1,
    }));
    if (ranges !== undefined) found.set(index, ranges);
  }
  return found;
}

/** The days on which any keyword was shown. */
function shownDays({ from, to }: Range, { impressions }: KeywordGrid): Day[] {
  const days = eachDay(from, to);
  const isShown = new Uint8Array(days.length);
  for (let start = 0; start < impressions.length; start += days.length + 1) {
    for (let day = 0; day < days.length; day++) {
      if (impressions[start + day + 1]! > impressions[start + day]!) isShown[day] = 1;
    }
  }
  return days.filter((_, day) => isShown[day] === 1);
}

/** Prefix sums of a subject by day. @param stored the stored days, including days without rows */
export function dailySums(range: Range, rows: readonly DayMeasures[], stored: StoredDays): DailySums {
  const days = countDays(range.from, range.to);
  const empty = (): Float64Array => new Float64Array(days + 1);
  const [clicks, impressions, positions] = [empty(), empty(), empty()];
  for (const row of rows) {
    const day = countDays(range.from, row.date);
    clicks[day] = row.clicks;
    impressions[day] = row.impressions;
    positions[day] = row.sumPosition;
  }
  for (const values of [clicks, impressions, positions]) toPrefixSums(values);
  return { clicks, impressions, positions, stored };
}

/** Longer runs of days without rows are missing data, not days without impressions. */
const MAX_EMPTY_DAYS = 6;

/**
 * The stored days of a table. A day without rows counts as stored only in a short gap between days with rows, and only if
 * site totals have it (or do not exist) and it is not undivided (see `undividedDays`). Unknown is not empty: if loads of
 * keywords stop while those of the site continue, no keyword is lost. The state of the sync takes precedence, except on
 * days that are unknown of one of the keywords (`gaps`).
 */
export function storedDays(
  range: Range,
  site: readonly Day[],
  days: readonly Day[],
  synced?: SyncedDays,
  undivided: ReadonlySet<Day> = new Set(),
  gaps: readonly Range[] = [],
): StoredDays {
  const published = new Set(site);
  const stored = new Set(days);
  for (const [index, day] of days.entries()) {
    const empty = countDays(day, days[index + 1] ?? day) - 2;
    if (empty > MAX_EMPTY_DAYS) continue;
    for (let after = 1; after <= empty; after++) {
      const between = addDays(day, after);
      if (site.length === 0 || (published.has(between) && !undivided.has(between))) stored.add(between);
    }
  }
  return daysOf(range, stored, synced, gaps);
}

export function daysOf(
  { from, to }: Range,
  stored: ReadonlySet<Day>,
  synced: SyncedDays = new Map(),
  gaps: readonly Range[] = [],
): StoredDays {
  return new StoredDays(eachDay(from, to).map((day) => (synced.get(day) ?? stored.has(day)) && !haveDay(gaps, day)));
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

/** The catalog data of a project to evaluate. */
export interface AlertProject {
  readonly project: Project;
  readonly tracked: TrackedKeywords;
  readonly cache: TrackedKeywordsCache;
  readonly keywords: readonly AlertKeyword[];
  readonly rules: readonly StoredRule[];
  readonly pageGroups: readonly PageGroup[];
  readonly notes: readonly AlertNote[];
  readonly evaluation: StoredEvaluation | undefined;
}

const NOTED = ['migration', 'technical'];

/**
 * Reads a project, and what `reads` adds, in one catalog snapshot. Undefined if its setup is unfinished. Throws if the
 * project does not exist.
 */
export async function readAlertProject<T>(
  catalog: Catalog,
  id: string,
  reads: (state: AlertProject, snapshot: Catalog) => Promise<T>,
): Promise<T | undefined> {
  const known = await requireProject(catalog, id);
  const cache = new TrackedKeywordsCache(catalog);
  return cache.read(known.workspaceId, id, async ({ catalog: snapshot, project, tracked }) => {
    const targets = await readKeywordTargets(snapshot, id);
    const range = { from: null, to: null, clientVisible: false };
    const notes = await listNotes(snapshot, { project: id, workspace: project.workspaceId, ...range });
    const state: AlertProject = {
      project,
      tracked,
      cache,
      keywords: tracked.keywords.map(({ id: keyword, query }) => {
        return { id: keyword, query, targetUrl: targets.get(keyword) ?? null };
      }),
      rules: await listAlertRules(snapshot, id),
      pageGroups: await listPageGroups(snapshot, id),
      notes: notes.flatMap(({ date, endDate, category, text, scope, keyword }) => {
        if (!NOTED.includes(category) || scope === 'group' || scope === 'page') return [];
        return [{ from: date, to: endDate ?? date, category, text, keywordId: keyword?.id ?? null }];
      }),
      evaluation: await findEvaluation(snapshot, id),
    };
    return reads(state, snapshot);
  });
}

/** The last final day that is stored; undefined before the first sync. @param now milliseconds */
export function lastStoredFinalDay(
  { provisionalAfter, syncedThrough }: Pick<Project, 'provisionalAfter' | 'syncedThrough'>,
  now: number,
): Day | undefined {
  if (syncedThrough === null) return undefined;
  return earlier(syncedThrough, provisionalAfter ?? settledDay(pacificDayOf(now)));
}
