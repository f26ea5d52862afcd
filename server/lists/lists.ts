import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.ts';
import type { KeptList, ListKey, ListKind, SourceKind } from '../catalog/kept-lists.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, pacificDayOf } from '../domain/dates.ts';
import { unavailable } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Engine } from '../facts/engine.ts';
import type { Settings } from '../settings.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import { Blocks, type Rendering } from './blocks.ts';
import { toKnownError } from './failures.ts';
import { Fetches } from './fetches.ts';
import { Flights } from './flights.ts';
import { Identities } from './google-auth.ts';
import type { Source } from './source.ts';
import { Sources } from './sources.ts';
import { ListStore } from './store.ts';

export interface ListsOptions {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly factFiles: CheckedFiles;
  readonly settings: Settings;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** A list as a request means it, with what it can come from. */
export interface ListRequest {
  readonly key: ListKey;
  readonly project: Project;
  readonly kind: ListKind;
  readonly range: Range;
  readonly country: string | null;
  /** None where the list is known to be empty. */
  readonly sources: readonly Source[];
  /** What an empty list is said to come from. */
  readonly source: SourceKind;
  /** From a provider, and not from own facts. */
  readonly live: boolean;
}

interface Page {
  readonly offset: number;
  readonly limit: number;
  /** Who asks: all pages that one asks for come from the list of the first. */
  readonly reader: string;
}

/** Provisional data is final after two or three days; one more for the difference of clocks (search-console facts). */
const PROVISIONAL_DAYS = 4;
/** How long the pages of a walk come from the list of its first, in milliseconds. */
const WALK = 600_000;
/** After a fetch in vain an older list is served for so long before the provider is asked again, in milliseconds. */
const REST_AFTER_FAILURE = 60_000;

/**
 * Page and query lists. Each is fetched once for all who ask, from a provider or own facts, and kept as a Parquet file
 * and a row of the catalog, so that all pages of a walk come from one list, from whichever process.
 */
export class Lists {
  readonly sources: Sources;
  readonly #options: ListsOptions;
  readonly #store: ListStore;
  readonly #blocks: Blocks;
  readonly #flights: Flights;
  readonly #fetches: Fetches;
  /** The list that each reader was last served of a key. */
  readonly #walks = new LRUCache<string, KeptList>({ max: 10_000, ttl: WALK });
  readonly #inVain = new LRUCache<string, true>({ max: 10_000, ttl: REST_AFTER_FAILURE });

  constructor(options: ListsOptions) {
    const { engine, catalog, factFiles, settings, log, now } = options;
    const { dataFolder } = settings;
    const timeLimit = settings.providerTimeLimit * 1000;
    this.#options = options;
    this.#store = new ListStore({ catalog, dataFolder, diskBudget: settings.listDiskBudget, log });
    this.#blocks = new Blocks(engine, settings.listMemory);
    this.#flights = new Flights(dataFolder);
    this.#fetches = new Fetches({
      catalog,
      log,
      now,
      patience: settings.listPatience * 1000,
      fetches: settings.fetches,
      fetchesPerProperty: settings.fetchesPerProperty,
    });
    this.sources = new Sources({
      engine,
      catalog,
      factFiles,
      identities: new Identities(timeLimit),
      timeLimit,
      maximumBytesBilled: settings.maximumBytesBilled,
    });
  }

  /**
   * What a list is and where it can come from. Throws `unavailable` for a project without any source. Run it in one
   * snapshot with the reading of the project.
   * @param country that was asked for
   */
  plan(project: Project, asked: { kind: ListKind; range: Range; country: string | null }): ListRequest {
    const { kind, range } = asked;
    const { basis, sources, live } = this.sources.choose(project, kind, range);
    // A project of one country has no rows of another; its own facts are of that country already.
    const country = asked.country ?? (live ? project.country : null);
    const empty = live && project.country !== null && country !== project.country;
    const key = { project: project.id, kind, ...range, country: country ?? '', basis };
    return {
      key,
      project,
      kind,
      range,
      country,
      source: sources[0]?.kind ?? 'bigquery',
      sources: empty ? [] : sources,
      live,
    };
  }

  /**
   * Rows `offset` to `offset + limit` of a list as JSON without the brackets, in parts to be put together. Throws `google_access_lost`, or
   * `unavailable` where the list cannot be had or is not there in time.
   */
  async page(
    request: ListRequest,
    page: Page,
    rendering: Rendering,
    signal: AbortSignal,
  ): Promise<{ list: KeptList; json: Buffer[] }> {
    const walk = `${page.reader} ${keyText(request.key)}`;
    const began = page.offset > 0 ? this.#walks.get(walk) : undefined;
    const list =
      began !== undefined && this.#store.has(began)
        ? this.#used(began)
        : await this.get(request, signal, page.offset > 0);
    if (list.file !== '') this.#walks.set(walk, list);
    try {
      return { list, json: await this.#read(list, page, rendering) };
    } catch (error) {
      if (/out of memory/i.test(String(error))) throw error;
      this.#options.log.warn({ err: error, file: list.file }, 'a kept list cannot be read and is made again');
      await this.#store.drop([list.file]);
      const again = await this.get(request, signal, false);
      return { list: again, json: await this.#read(again, page, rendering) };
    }
  }

  /** The list of a request: the one that is kept, or a new one. `walking`: a page behind the first is asked for. */
  async get(request: ListRequest, signal: AbortSignal, walking = false): Promise<KeptList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const kept = this.#store.find(request.key);
    if (kept !== undefined && this.#isFresh(kept, request, walking)) return this.#used(kept);
    try {
      return this.#used(await this.#patiently(this.#fetch(request), signal));
    } catch (error) {
      // The row of the catalog again: the list may be gone since.
      const older = signal.aborted ? undefined : this.#store.find(request.key);
      if (older === undefined) throw toKnownError(error);
      this.#inVain.set(keyText(request.key), true);
      return this.#used(older);
    }
  }

  /**
   * As `get`, for one who waits as long as it takes. For operators: throws what a
   * provider said, and no older list stands in for one that cannot be had.
   */
  async fetchAhead(request: ListRequest): Promise<KeptList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const kept = this.#store.find(request.key);
    if (kept !== undefined && this.#isFresh(kept, request, false)) return kept;
    return this.#fetch(request);
  }

  /** Removes what crashes left behind. */
  async sweep(): Promise<void> {
    await this.#store.sweep();
    await this.#flights.sweep();
  }

  /** Ends fetches that are under way, and with them the requests that wait. */
  stop(): void {
    this.#fetches.stop();
  }

  /** Resolves when nothing is under way any more and what was counted is written. */
  async close(): Promise<void> {
    this.stop();
    await this.#flights.ended();
    await this.#store.flush();
  }

  #fetch(request: ListRequest): Promise<KeptList> {
    const { key, project, kind, range, country, sources } = request;
    const { now } = this.#options;
    const done = (): KeptList | undefined => {
      const list = this.#store.find(key);
      return list !== undefined && this.#isFresh(list, request, false) ? list : undefined;
    };
    const work = (): Promise<KeptList> =>
      this.#store.keep(key, async (target) => {
        const question = { kind, property: project.property, range, country, newestMayLack: false };
        // Before the fetch: a day that becomes final meanwhile was read while it was not.
        const final = this.#isFinal(request);
        const { complete, secondBest, ...fetched } = await this.#fetches.fetch(question, sources, target);
        return { ...fetched, final: final && complete && !secondBest, fetchedAt: toMicroseconds(now()) };
      });
    return this.#flights.join(keyText(key), done, work, this.#fetches.stopped);
  }

  /** The end of a fetch, or 503 when it takes too long. The fetch goes on, also when the client goes away. */
  async #patiently<T>(fetch: Promise<T>, signal: AbortSignal): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const giveUp = (): void => reject(unavailable('The request ended before the list was there.'));
    const seconds = this.#options.settings.listPatience;
    const timer = setTimeout(() => {
      reject(unavailable('The list is still being fetched from the search provider; ask again in a minute.'));
    }, seconds * 1000);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      return await Promise.race([fetch, promise]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** A walk goes on with the list that it began with, a lifetime longer than others are served it. */
  #isFresh(list: KeptList, request: ListRequest, walking: boolean): boolean {
    if (list.final || this.#inVain.has(keyText(request.key))) return true;
    const lifetime = this.#options.settings.listLifetime * (walking ? 2 : 1);
    return toMicroseconds(this.#options.now()) - list.fetchedAt < lifetime * 1e6;
  }

  #isFinal({ live, project, range }: ListRequest): boolean {
    if (!live) return true;
    const settled = addDays(pacificDayOf(this.#options.now()), -PROVISIONAL_DAYS);
    return range.to <= settled || range.to <= (project.provisionalAfter ?? '');
  }

  #read(list: KeptList, { offset, limit }: Page, rendering: Rendering): Promise<Buffer[]> {
    const end = Math.min(list.rows, offset + limit);
    if (offset >= end) return Promise.resolve([]);
    return this.#blocks.json(this.#store.path(list.file), offset, end, rendering);
  }

  #used(list: KeptList): KeptList {
    this.#store.noteUse(list);
    return list;
  }

  #emptyList({ source }: ListRequest): KeptList {
    const fetchedAt = toMicroseconds(this.#options.now());
    return { file: '', source, rows: 0, truncated: false, capped: false, final: false, bytes: 0, fetchedAt };
  }
}

function keyText(key: ListKey): string {
  return JSON.stringify(key);
}
