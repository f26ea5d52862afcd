import { filesOf, readCoverage } from '../catalog/fact-files.ts';
import type { TrackedKeyword, TrackedRead } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { brandTest } from '../domain/brand-terms.ts';
import { addDays, countDays, type Day, eachDay, earlier } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import { metricsWithEvents } from '../domain/provider-events.ts';
import { type Range, within } from '../domain/range.ts';
import type { Facts, FactsQuery } from '../facts/facts.ts';
import type { Testable } from '../findings/find.ts';
import {
  type Family,
  type KindRows,
  maySplit,
  type RowKind,
  type ShownPages,
  type Split,
  splitOf,
} from '../findings/finding.ts';
import { DECAY_WEEKS, MOST_WINDOWS, PRESENCE_WEEKS, RowGrids, RowTimes } from '../findings/grids.ts';
import { LEAST_CLICKS } from '../findings/moves.ts';
import type { FactTable } from '../model/tables.ts';
import { KnownDays, planKnownDays } from '../query/known-days.ts';
import { planQuality } from '../query/quality.ts';
import { NumberIndex } from '../runtime/number-index.ts';
import { inTurns } from '../runtime/turns.ts';

/** Why a type could not be tested. */
export const UNTESTED_REASONS = ['needs_stored_days', 'provider_event', 'too_little_data'] as const;
export type UntestedReason = (typeof UNTESTED_REASONS)[number];
export type Reasons = Map<Family, UntestedReason>;

/** Windows that moves need. */
const LEAST_WINDOWS = 4;
const TABLES: Readonly<Record<RowKind, FactTable>> = { query: 'query_daily', page: 'page_daily' };
const KINDS = ['query', 'page'] as const;

export type FindingsPlan = Awaited<ReturnType<typeof planFindings>>;

/** Plans what to read: the stored days of queries and pages up to the last day of the range, as far back as any test needs. */
export async function planFindings({ catalog, project, tracked }: TrackedRead, range: Range, historyFrom: Day) {
  const coverage = await readCoverage(catalog, project.id);
  const days = countDays(range.from, range.to);
  const furthest = earlier(addDays(range.to, 1 - MOST_WINDOWS * days), addDays(range.to, 1 - 7 * DECAY_WEEKS));
  const span = { from: earlier(furthest, addDays(range.from, -7 * PRESENCE_WEEKS)), to: range.to };
  const kinds = await Promise.all(
    KINDS.map(async (kind) => ({
      kind,
      files: coverage[TABLES[kind]] === undefined ? [] : await filesOf(catalog, project.id, TABLES[kind], span),
      known: await planKnownDays(catalog, project, TABLES[kind], { ranges: [span], coverage }),
    })),
  );
  const history = within(range, historyFrom, range.to);
  const pagesOf = (table: 'keyword_page_daily' | 'keyword_all') =>
    history === null ? [] : filesOf(catalog, project.id, table, history);
  return {
    project,
    span,
    kinds,
    split: {
      range: history,
      keywords: tracked.keywords,
      pages: await pagesOf('keyword_page_daily'),
      impressions: await pagesOf('keyword_all'),
    },
    quality: await planQuality(catalog, project, { ...range, table: 'query_daily', device: null, coverage }),
  };
}

interface Tests {
  readonly rows: readonly RowsToRead[];
  readonly can: Testable;
  readonly reasons: Reasons;
}

/** Which tests the stored days allow, and why not others. */
export async function plannedTests(
  facts: Facts,
  { kinds, span }: FindingsPlan,
  range: Range,
  signal: AbortSignal,
): Promise<Tests> {
  const days = countDays(range.from, range.to);
  const stored = await Promise.all(
    kinds.map(async ({ kind, files, known }) => {
      const days = files.length === 0 ? null : await KnownDays.read(facts, known, signal);
      const isStored = (day: Day): boolean => days?.isStored(day) ?? false;
      const isCutOff = (day: Day): boolean => days?.isCutOff(day) ?? false;
      return { kind, files, isStored, isCutOff, events: days?.events ?? [] };
    }),
  );
  const shown = stored.filter(({ isStored }) => eachDay(range.from, range.to).some(isStored));
  const rows = shown.map(({ kind, files, isStored }) => ({
    kind,
    files,
    span,
    windows: windowsOf(range, days, isStored),
  }));
  const windows = Math.max(0, ...rows.map(({ windows: count }) => count));
  const allStored = (kind: RowKind, from: Day, isCutOffRefused: boolean): boolean =>
    shown.some(
      (table) =>
        table.kind === kind &&
        eachDay(from, range.to).every((day) => table.isStored(day) && !(isCutOffRefused && table.isCutOff(day))),
    );
  const before = { from: addDays(range.from, -days), to: addDays(range.from, -1) };
  const absent = { from: addDays(range.from, -7 * PRESENCE_WEEKS), to: addDays(range.from, -1) };
  const events = [...new Set(stored.flatMap((table) => table.events))];
  const has = (metric: 'ctr' | 'clicks' | 'impressions' | 'position', other: Range): boolean =>
    metricsWithEvents([range, other], null, events).has(metric);
  const oldest = addDays(range.to, 1 - Math.max(1, windows) * days);
  const weeks = addDays(range.to, 1 - 7 * DECAY_WEEKS);
  const queryWindows = rows.find(({ kind }) => kind === 'query')?.windows ?? 0;
  const reasons: Reasons = new Map();
  const check = (family: Family, isKnown: boolean, isChanged: boolean): boolean => {
    if (!isKnown) reasons.set(family, 'needs_stored_days');
    else if (isChanged) reasons.set(family, 'provider_event');
    return isKnown && !isChanged;
  };
  const presence = allStored('query', absent.from, true);
  const isPresenceSafe = has('impressions', absent);
  const can = {
    ctr: check('ctr', rows.length > 0, has('ctr', range)),
    nearTop: check('nearTop', queryWindows > 1, has('ctr', range) || has('position', before)),
    moves: check('moves', windows >= LEAST_WINDOWS, has('clicks', { from: oldest, to: before.to })),
    decay: check('decay', allStored('page', weeks, false), has('clicks', { from: weeks, to: range.to })),
    presence: check('lost', presence, isPresenceSafe) && check('new', presence, isPresenceSafe),
  };
  if (!can.presence) reasons.set('new', reasons.get('lost')!);
  return { rows: rows.map((table) => ({ ...table, windows: Math.max(1, table.windows) })), can, reasons };
}

/** How many windows in a row are stored as a whole, the range first. */
function windowsOf({ to }: Range, days: number, isStored: (day: Day) => boolean): number {
  for (let window = 0; window < MOST_WINDOWS; window++) {
    const last = addDays(to, -window * days);
    if (!eachDay(addDays(last, 1 - days), last).every(isStored)) return window;
  }
  return MOST_WINDOWS;
}

/** Impressions that a row must have in all days that are read, and rows of each kind. */
const LEAST = 10;
const MOST = 30_000;

/** Stored rows of one kind. */
export interface RowsToRead {
  readonly kind: RowKind;
  readonly files: FactsQuery['files'];
  /** The days to read, which end with those of the range. */
  readonly span: Range;
  /** Windows as long as the range, the range itself included, whose days are stored. */
  readonly windows: number;
}

/** Rows with the names that the answer has. */
export interface NamedRows extends KindRows {
  readonly names: readonly string[];
}

/** Reads the sums of rows over the times that findings compare. */
export async function readRows(
  facts: Facts,
  { kind, files, span, windows }: RowsToRead,
  { range, country, project }: { readonly range: Range; readonly country: string | null; readonly project: Project },
  signal: AbortSignal,
): Promise<NamedRows> {
  const days = countDays(range.from, range.to);
  const text = kind === 'page' ? 'url' : 'query';
  const query = { files, range: span, signal, text, country, least: LEAST, most: MOST } as const;
  const named = await facts.rowNames(query);
  const names = named.map((row) => row.text);
  const rows = new NumberIndex(named.map(({ page }) => page));
  const times = new RowTimes({ rows: names.length, days, windows });
  // Rows with fewer clicks cannot have moved or decayed: of them only the newest days are needed.
  const oldest = Float64Array.from(named, ({ clicks }) =>
    clicks < LEAST_CLICKS ? days + 7 * PRESENCE_WEEKS : Number.POSITIVE_INFINITY,
  );
  await facts.rowSums(query, days, ([pages, firsts, lasts, clicks, impressions, positions], count) => {
    for (let at = 0; at < count; at++) {
      const row = rows.of(pages![at]!);
      if (row === -1 || lasts![at]! >= oldest[row]!) continue;
      times.add(row, firsts![at]!, lasts![at]!, clicks![at]!, impressions![at]!, positions![at]!);
    }
  });
  const grids = await inTurns(RowGrids.of(times));
  return { kind, names, grids, stratum: await inTurns(strataOf(kind, names, project)) };
}

function* strataOf(kind: RowKind, names: readonly string[], { brandTerms }: Project): Generator<void, Uint8Array> {
  const strata = new Uint8Array(names.length);
  if (kind === 'page' || brandTerms.length === 0) return strata;
  const isBranded = brandTest(brandTerms);
  for (const [row, name] of names.entries()) {
    strata[row] = isBranded(name.toLowerCase()) ? 1 : 0;
    if (row % 512 === 0) yield;
  }
  return strata;
}

/** A tracked query that is split over pages. */
export interface SplitQuery extends Omit<Split, 'pages' | 'firstChange'> {
  readonly query: string;
  /** The first day on which the main page was another one. */
  readonly since: Day;
  readonly impressions: number;
  readonly pages: readonly { readonly url: string; readonly impressions: number }[];
}

/** The tracked queries that are split over pages, how many have pages, and whether any query has. */
export async function readSplits(
  facts: Facts,
  { range, keywords, pages, impressions }: FindingsPlan['split'],
  signal: AbortSignal,
): Promise<{ readonly tested: number; readonly splits: readonly SplitQuery[]; readonly isStored: boolean }> {
  if (range === null) return { tested: 0, splits: [], isStored: false };
  const { shown, isStored } = await readShown(facts, { files: pages, range, signal }, keywords);
  const withPages = keywords.filter((_, index) => shown.has(index));
  const totals = await readImpressions(facts, { files: impressions, range, signal }, withPages);
  const likely = await inTurns(likelySplits(keywords, shown, totals));
  if (likely.length === 0) return { tested: shown.size, splits: [], isStored };
  const ids = likely.map(({ keyword }) => keyword.id);
  // Of equal pages the first by its address counts: numbers of pages say nothing.
  const names = [...(await facts.keywordPageNames({ files: pages, range, signal }, ids))];
  return { tested: shown.size, splits: await inTurns(findSplits(likely, names, range.from)), isStored };
}

async function readShown(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly TrackedKeyword[],
): Promise<{ readonly shown: ReadonlyMap<number, ShownPages>; readonly isStored: boolean }> {
  const indexes = new Map(keywords.map(({ id }, index) => [shortIdNumber(id), index]));
  const shown = new Map<number, ShownPages>();
  let isStored = false;
  await facts.keywordPages(query, 'all', ([keyword, day, page, impressions], rows) => {
    isStored ||= rows > 0;
    for (let row = 0; row < rows; row++) {
      const index = indexes.get(keyword![row]!);
      if (index === undefined) continue;
      const shownPages = shown.get(index) ?? { days: [], pages: [], impressions: [] };
      shownPages.days.push(day![row]!);
      shownPages.pages.push(page![row]!);
      shownPages.impressions.push(impressions![row]!);
      shown.set(index, shownPages);
    }
  });
  return { shown, isStored };
}

/** Impressions of keywords over all devices, by id. */
async function readImpressions(
  facts: Facts,
  query: FactsQuery,
  keywords: readonly TrackedKeyword[],
): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  if (keywords.length === 0) return totals;
  const cells = countDays(query.range.from, query.range.to) + 1;
  const ids = keywords.map(({ id }) => id);
  await facts.keywordImpressions(query, ids, ([cell, impressions], rows) => {
    for (let row = 0; row < rows; row++) {
      const id = ids[Math.floor(cell![row]! / cells)]!;
      totals.set(id, (totals.get(id) ?? 0) + impressions![row]!);
    }
  });
  return totals;
}

interface LikelySplit {
  readonly keyword: TrackedKeyword;
  readonly shown: ShownPages;
  readonly total: number;
}

function* likelySplits(
  keywords: readonly TrackedKeyword[],
  shown: ReadonlyMap<number, ShownPages>,
  totals: ReadonlyMap<string, number>,
): Generator<void, LikelySplit[]> {
  const found: LikelySplit[] = [];
  for (const [index, pages] of shown) {
    const keyword = keywords[index]!;
    const total = totals.get(keyword.id) ?? 0;
    if (total > 0 && maySplit(pages, total)) found.push({ keyword, shown: pages, total });
    yield;
  }
  return found;
}

/** @param names of pages by their number, in order @param from the first day that was read */
function* findSplits(
  likely: readonly LikelySplit[],
  names: readonly (readonly [number, string])[],
  from: Day,
): Generator<void, SplitQuery[]> {
  const order = new Map(names.map(([page], at) => [page, at]));
  const found: SplitQuery[] = [];
  for (const { keyword, shown, total } of likely) {
    const split = splitOf({ ...shown, pages: shown.pages.map((page) => order.get(page)!) }, total);
    if (split !== null) {
      const since = addDays(from, split.firstChange);
      const pages = split.pages.map(({ page, impressions }) => ({ url: names[page]![1], impressions }));
      found.push({ ...split, query: keyword.query, impressions: total, pages, since });
    }
    yield;
  }
  return found;
}
