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
