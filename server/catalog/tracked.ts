import { LRUCache } from 'lru-cache';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Group, Membership } from '../domain/groups.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Catalog } from './catalog.ts';
import { type Keyword, listGroups, listKeywords, readMembership } from './keywords.ts';
import type { Project } from './projects.ts';

export interface TrackedKeyword extends Keyword {
  /** Its place among the project's keywords, from 0. */
  readonly position: number;
}

/** A project's keywords that are not archived, by query, its groups, and what answers need to know about them. */
export interface TrackedKeywords {
  readonly keywords: readonly TrackedKeyword[];
  /** Positions by `shortIdNumber` of the id. */
  readonly positions: ReadonlyMap<number, number>;
  readonly groups: readonly Group[];
  readonly membership: Membership;
  /** Keyword id by lower-cased query text. */
  readonly idByQuery: ReadonlyMap<string, string>;
}

/** Keywords kept in memory, over all projects; with what answers say of it, each takes some 600 bytes. */
const MOST_KEYWORDS = 250_000;

/** Reads tracked keywords once per project and revision. */
export class TrackedKeywordsCache {
  readonly #catalog: Catalog;
  readonly #cache = new LRUCache<CacheKey, TrackedKeywords>({
    maxSize: MOST_KEYWORDS,
    sizeCalculation: ({ keywords }) => keywords.length + 1,
  });

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** `project` must have been read in the same snapshot. */
  get({ id, revision }: Pick<Project, 'id' | 'revision'>): TrackedKeywords {
    const key = cacheKey(id, revision);
    let tracked = this.#cache.get(key);
    if (tracked === undefined) {
      const keywords = listKeywords(this.#catalog, id).map((keyword, position) =>
        // Not a copy: the row is nobody else's, and there may be 100,000.
        Object.assign(keyword, { position }),
      );
      // The first of two keywords that differ by case only stands for both.
      const idByQuery = new Map<string, string>();
      for (const keyword of keywords) {
        const text = keyword.query.toLowerCase();
        if (!idByQuery.has(text)) idByQuery.set(text, keyword.id);
      }
      tracked = {
        keywords,
        positions: new Map(keywords.map((keyword) => [shortIdNumber(keyword.id), keyword.position])),
        groups: listGroups(this.#catalog, id),
        membership: readMembership(this.#catalog, id),
        idByQuery,
      };
      this.#cache.set(key, tracked);
    }
    return tracked;
  }
}
