import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { addDays, type Day, later } from '../domain/dates.ts';
import { type Group, type GroupMatch, type Membership, matchGroup } from '../domain/groups.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import { EVERY_DAY, type Range, spanOf, withoutRange } from '../domain/range.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Catalog, Values } from './catalog.ts';
import type { Entity } from './entities.ts';
import { entityOf, withoutProject } from './entity-rows.ts';
import { isLoaded, readCoverage } from './fact-files.ts';
import { findProject, type Project } from './projects.ts';

export interface Keyword {
  readonly id: string;
  readonly query: string;
  readonly source: 'suggested' | 'manual' | 'import';
  readonly trackedSince: Microseconds;
  readonly intent: Intent;
}

export type PageGroup = Omit<Entity<'page_groups'>, 'projectId'>;

/** What members set of a keyword. */
export interface KeywordSettings {
  readonly archived: boolean;
  readonly tags: readonly string[];
  /** The page that should rank for it. */
  readonly targetUrl: string | null;
}

/** A keyword as members manage it. */
export interface ManagedKeyword extends KeywordSettings {
  readonly id: string;
  readonly query: string;
}

/** An archived keyword. */
export type ArchivedKeyword = ManagedKeyword & Pick<Keyword, 'trackedSince'>;

/** A keyword of a project, also an archived one. */
export async function findKeyword(catalog: Catalog, project: string, id: string): Promise<ManagedKeyword | undefined> {
  const row = await catalog.statements.get<ManagedRow<ManagedKeyword>>('keywords.one', { project, id });
  return row && toManaged(row);
}

type ManagedRow<Of extends KeywordSettings> = Omit<Of, 'archived' | 'tags'> & { archived: number; tags: string | null };

function toManaged<Of extends KeywordSettings>(row: ManagedRow<Of>): Of {
  return { ...row, archived: row.archived === 1, tags: JSON.parse(row.tags ?? '[]') as string[] } as unknown as Of;
}

/** Archived keywords of a project, by their query. */
export async function listArchivedKeywords(
  catalog: Catalog,
  project: string,
  limit: number,
): Promise<ArchivedKeyword[]> {
  const rows = await catalog.statements.all<ManagedRow<ArchivedKeyword>>('keywords.archived', { project, limit });
  return rows.map((row) => toManaged<ArchivedKeyword>(row));
}

/** The keywords of a project that are not archived, by the bytes of their query, then id. */
export async function listKeywords(catalog: Catalog, project: string): Promise<Keyword[]> {
  return catalog.statements.all('keywords.of_project', { project });
}

/** Like `listKeywords`, in batches. */
function eachKeyword(catalog: Catalog, project: string): AsyncIterable<readonly Keyword[]> {
  return catalog.statements.each('keywords.of_project', { project });
}

/** The groups of a project in rank-tracker order. */
export async function listGroups(catalog: Catalog, project: string): Promise<Group[]> {
  const rows = await catalog.statements.all<Values>('groups.of_project', { project });
  return rows.map((row) => withoutProject(entityOf('groups', row)));
}

export async function listPageGroups(catalog: Catalog, project: string): Promise<PageGroup[]> {
  const rows = await catalog.statements.all<Values>('groups.of_pages', { project });
  return rows.map((row) => withoutProject(entityOf('page_groups', row)));
}

/** The manual groups of the keywords that are not archived, by group, then keyword, in batches. */
function eachMember(
  catalog: Catalog,
  project: string,
): AsyncIterable<readonly { readonly groupId: string; readonly keywordId: string }[]> {
  return catalog.statements.each('groups.keywords', { project });
}

export async function groupExists(catalog: Catalog, project: string, id: string): Promise<boolean> {
  return (await catalog.statements.get('groups.exists', { project, id })) !== undefined;
}

/** The keywords of a manual group, archived ones included. */
export async function listMembers(
  catalog: Catalog,
  project: string,
  group: string,
): Promise<{ readonly id: string; readonly archived: boolean }[]> {
  const of = { project, group };
  const rows = await catalog.statements.all<{ id: string; archived: number }>('groups.members', of);
  return rows.map(({ id, archived }) => ({ id, archived: archived === 1 }));
}

export interface TrackedKeyword extends Keyword {
  /** Index among the project's keywords. */
  readonly index: number;
}

/** A project's active keywords, sorted by query, and groups, with indexes for reports. */
export interface TrackedKeywords {
  /** The cache key: project and revision. */
  readonly key: CacheKey;
  readonly keywords: readonly TrackedKeyword[];
  /** The index of each keyword, by `shortIdNumber` of its id. */
  readonly indexes: ReadonlyMap<number, number>;
  readonly groups: readonly Group[];
  readonly membership: Membership;
  /** Keyword id by lower-cased query text. */
  readonly idByQuery: ReadonlyMap<string, string>;
}

/** What `TrackedKeywordsCache.read` passes on, all in the snapshot `catalog`. */
export interface TrackedRead {
  readonly catalog: Catalog;
  readonly project: Project;
  readonly tracked: TrackedKeywords;
}

/** Cached keywords of all projects; each takes about 600 bytes with its indexes. */
const MAX_KEYWORDS = 250_000;
/** Concurrent snapshots that read keywords, so that other snapshots do not wait. */
const MAX_LONG_READS = 4;
/** Bytes of cached group matches: a bit per keyword of the project. */
const MAX_MATCH_BYTES = 16_000_000;

/** Reads tracked keywords and matches them to groups, once per project and revision. */
export class TrackedKeywordsCache {
  readonly #catalog: Catalog;
  readonly #cache = new LRUCache<CacheKey, TrackedKeywords>({
    maxSize: MAX_KEYWORDS,
    sizeCalculation: ({ keywords }) => keywords.length + 1,
  });
  readonly #longReads = pLimit(MAX_LONG_READS);
  readonly #reading = new Map<CacheKey, Promise<TrackedKeywords>>();
  readonly #matches = new LRUCache<CacheKey, GroupMatch, { tracked: TrackedKeywords; group: Group }>({
    maxSize: MAX_MATCH_BYTES,
    sizeCalculation: ({ bits }) => bits.length + 1,
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context: { tracked, group } }) => inTurns(matchGroup(group, tracked)),
  });

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /**
   * Reads a project and its tracked keywords, and runs `work`, in one snapshot. Uncached keywords are read without blocking
   * the event loop. Undefined if the workspace has no such project.
   */
  async read<T>(workspace: string, id: string, work: (read: TrackedRead) => T | Promise<T>): Promise<T | undefined> {
    const cached = await this.#catalog.cachedSnapshot(async (catalog) => {
      const project = await findProject(catalog, workspace, id);
      if (project === undefined) return { answer: undefined };
      const tracked = this.#cache.get(keyOf(project));
      return tracked && { answer: await work({ catalog, project, tracked }) };
    });
    if (cached !== undefined) return cached.answer;
    return this.#longReads(() =>
      this.#catalog.snapshot(async (catalog) => {
        const project = await findProject(catalog, workspace, id);
        return project && work({ catalog, project, tracked: await this.#tracked(catalog, project) });
      }),
    );
  }

  /** Matches keywords to groups by the conditions that do not depend on a range. */
  matches(tracked: TrackedKeywords, groups: readonly Group[]): Promise<GroupMatch[]> {
    return Promise.all(
      groups.map((group) => this.#matches.forceFetch(cacheKey(tracked.key, group.id), { context: { tracked, group } })),
    );
  }

  #tracked(catalog: Catalog, project: Project): Promise<TrackedKeywords> | TrackedKeywords {
    const key = keyOf(project);
    const cached = this.#cache.get(key) ?? this.#reading.get(key);
    if (cached !== undefined) return cached;
    const reading = readTracked(catalog, project)
      .then((tracked) => {
        this.#cache.set(key, tracked);
        return tracked;
      })
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}

function keyOf({ id, entitiesRevision }: Project): CacheKey {
  return cacheKey(id, entitiesRevision);
}

async function readTracked(catalog: Catalog, project: Project): Promise<TrackedKeywords> {
  const keywords: TrackedKeyword[] = [];
  for await (const rows of eachKeyword(catalog, project.id)) {
    for (const { id, query, source, trackedSince, intent } of rows) {
      keywords.push({ id, query, source, trackedSince, intent, index: keywords.length });
    }
  }
  const { indexes, idByQuery } = await inTurns(indexed(keywords));
  const keywordsOf = new Map<string, string[]>();
  const groupsOf = new Map<string, string[]>();
  for await (const rows of eachMember(catalog, project.id)) {
    for (const { groupId, keywordId } of rows) {
      append(keywordsOf, groupId, keywordId);
      append(groupsOf, keywordId, groupId);
    }
  }
  const groups = await listGroups(catalog, project.id);
  return { key: keyOf(project), keywords, indexes, groups, membership: { keywordsOf, groupsOf }, idByQuery };
}

function* indexed(
  keywords: readonly Keyword[],
): Generator<void, { indexes: Map<number, number>; idByQuery: Map<string, string> }> {
  // One map at a time, because growing a large map takes milliseconds.
  const indexes = new Map<number, number>();
  for (const [index, { id }] of keywords.entries()) {
    indexes.set(shortIdNumber(id), index);
    yield;
  }
  const idByQuery = new Map<string, string>();
  for (const { id, query } of keywords) {
    // Of keywords that differ only by case, the first is used.
    const text = query.toLowerCase();
    if (!idByQuery.has(text)) idByQuery.set(text, id);
    yield;
  }
  return { indexes, idByQuery };
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

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

/** The keywords that stored days are known of: some, or all, also archived ones. */
export type KnownKeywords = ReadonlySet<string> | 'all';

/** Makes days known of keywords, for which they have been stored with rows or without. Returns what has changed. */
export async function fillKeywordGaps(
  tx: Catalog,
  project: string,
  days: readonly Range[],
  keywords: KnownKeywords,
): Promise<KeywordGap[]> {
  if (days.length === 0) return [];
  const isKnown = (keyword: string): boolean => keywords === 'all' || keywords.has(keyword);
  const touched = [...(await storedGaps(tx, project, spanOf(days), keywords === 'all')).keys()].filter(isKnown);
  const gaps = new Map<string, readonly Range[]>();
  for (const keyword of touched) gaps.set(keyword, await gapsOf(tx, project, keyword));
  return fill(tx, gaps, project, days);
}

/** Makes days unknown of keywords, for which they have been stored without their rows. Returns what has changed. */
export async function widenKeywordGaps(
  tx: Catalog,
  project: string,
  days: readonly Range[],
  keywords: readonly string[],
): Promise<KeywordGap[]> {
  if (days.length === 0 || keywords.length === 0) return [];
  const stored = await storedGaps(tx, project, EVERY_DAY, true);
  const widened: KeywordGap[] = [];
  for (const keyword of keywords) {
    const before = stored.get(keyword) ?? [];
    const more = before.reduce<readonly Range[]>((left, gap) => left.flatMap((one) => withoutRange(one, gap)), days);
    if (more.length > 0) widened.push({ project, keyword, ranges: [...before, ...more] });
  }
  await putKeywordGaps(tx, widened);
  return widened;
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
