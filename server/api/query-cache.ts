import { LRUCache } from 'lru-cache';
import type { Project } from '../catalog/projects.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { etagOf } from './etag.ts';

/** A query value and the key that it has in the response cache. */
export interface ParsedQuery<Query> {
  readonly query: Query;
  readonly key: CacheKey;
  /** The entity tag of an answer that depends on the query value alone. */
  readonly etag: string;
}

interface Entry extends ParsedQuery<unknown> {
  readonly project: Project;
  readonly hour: number;
}

/** Characters of addresses and keys in all; and of one address. */
const MAX_CHARACTERS = 8_000_000;
const MAX_ADDRESS = 500;
/** Milliseconds. Days begin with an hour, in any time zone that matters here. */
const HOUR = 3_600_000;

/** The queries of addresses that are asked over and over: parsing is a quarter of the time of a cached answer. */
export class QueryCache {
  readonly #entries = new LRUCache<CacheKey, Entry>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ key }, address) => key.length + address.length,
  });

  /**
   * The query that an address means for a project, at a time (milliseconds).
   * @param url path and parameters
   * @param format that the request names besides
   * @param parse its result depends on the address, the project and the day only
   */
  get<Query extends object>(
    url: string,
    format: string | undefined,
    project: Project,
    now: number,
    parse: () => Query,
  ): ParsedQuery<Query> {
    const address =
      format === undefined ? cacheKey(project.workspaceId, url) : cacheKey(project.workspaceId, url, format);
    const hour = Math.floor(now / HOUR);
    const cached = this.#entries.get(address);
    // The project is the same object for as long as nobody changes the catalog.
    if (cached?.project === project && cached.hour === hour) return cached as ParsedQuery<Query>;
    const query = parse();
    const key = cacheKey(query);
    const etag = etagOf(key);
    if (address.length <= MAX_ADDRESS) this.#entries.set(address, { query, key, etag, project, hour });
    return { query, key, etag };
  }
}
