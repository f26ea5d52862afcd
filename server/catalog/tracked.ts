import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type Group, type GroupMatch, type Membership, matchGroup } from '../domain/groups.ts';
import { shortIdNumber } from '../domain/ids.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Catalog } from './catalog.ts';
import { eachKeyword, eachMember, type Keyword, listGroups } from './keywords.ts';
import { findProject, type Project } from './projects.ts';

export interface TrackedKeyword extends Keyword {
  /** Its place among the project's keywords, from 0. */
  readonly position: number;
}

/** A project's keywords that are not archived, by query, its groups, and what answers need to know about them. */
export interface TrackedKeywords {
  /** What they are cached by: the project and its revision. */
  readonly key: CacheKey;
  readonly keywords: readonly TrackedKeyword[];
  /** Positions by `shortIdNumber` of the id. */
  readonly positions: ReadonlyMap<number, number>;
  readonly groups: readonly Group[];
  readonly membership: Membership;
  /** Keyword id by lower-cased query text. */
  readonly idByQuery: ReadonlyMap<string, string>;
}

/** What `TrackedKeywordsCache.read` has read in one snapshot, which is that of `catalog`. */
export interface TrackedRead {
  readonly catalog: Catalog;
  readonly project: Project;
  readonly tracked: TrackedKeywords;
}

/** Keywords kept in memory, over all projects; with what answers say of it, each takes some 600 bytes. */
const MAX_KEYWORDS = 250_000;
/** Snapshots that keywords are read in at a time: others must not wait for them. */
const MAX_LONG_READS = 4;
/** Bytes of group matches kept in memory: a bit for each keyword of the project. */
const MAX_MATCH_BYTES = 16_000_000;

/** Reads tracked keywords, and works out what groups have of them, once per project and revision. */
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
   * Reads a project, its tracked keywords, and what `reads` takes of the catalog, in one snapshot. Keywords that are not
   * cached are read without holding up the event loop. Undefined when the workspace has no such project.
   */
  async read<T>(workspace: string, id: string, reads: (read: TrackedRead) => T | Promise<T>): Promise<T | undefined> {
    const cached = await this.#catalog.snapshot(async (catalog) => {
      const project = await findProject(catalog, workspace, id);
      if (project === undefined) return { answer: undefined };
      const tracked = this.#cache.get(keyOf(project));
      return tracked && { answer: await reads({ catalog, project, tracked }) };
    });
    if (cached !== undefined) return cached.answer;
    return this.#longReads(() =>
      this.#catalog.snapshot(async (catalog) => {
        const project = await findProject(catalog, workspace, id);
        return project && reads({ catalog, project, tracked: await this.#tracked(catalog, project) });
      }),
    );
  }

  /** Which of the keywords each of the groups has, as far as that depends on no range. */
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
      keywords.push({ id, query, source, trackedSince, intent, position: keywords.length });
    }
  }
  const { positions, idByQuery } = await inTurns(indexed(keywords));
  const keywordsOf = new Map<string, string[]>();
  const groupsOf = new Map<string, string[]>();
  for await (const rows of eachMember(catalog, project.id)) {
    for (const { groupId, keywordId } of rows) {
      append(keywordsOf, groupId, keywordId);
      append(groupsOf, keywordId, groupId);
    }
  }
  const groups = await listGroups(catalog, project.id);
  return { key: keyOf(project), keywords, positions, groups, membership: { keywordsOf, groupsOf }, idByQuery };
}

function* indexed(
  keywords: readonly Keyword[],
): Generator<void, { positions: Map<number, number>; idByQuery: Map<string, string> }> {
  // One map after the other: a large one that grows takes milliseconds.
  const positions = new Map<number, number>();
  for (const [position, { id }] of keywords.entries()) {
    positions.set(shortIdNumber(id), position);
    yield;
  }
  const idByQuery = new Map<string, string>();
  for (const { id, query } of keywords) {
    // The first of two keywords that differ by case only stands for both.
    const text = query.toLowerCase();
    if (!idByQuery.has(text)) idByQuery.set(text, id);
    yield;
  }
  return { positions, idByQuery };
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
