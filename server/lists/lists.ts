import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKey, StoredList } from '../catalog/stored-lists.ts';
import { UsageDatabase } from '../catalog/usage.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { KnownError, unavailable } from '../domain/errors.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Selection } from '../domain/select-rows.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { toKnownError } from '../providers/failures.ts';
import type { Demand } from '../providers/places.ts';
import { Providers } from '../providers/providers.ts';
import type { Settings } from '../settings.ts';
import type { CheckedFiles } from '../storage/checked-files.ts';
import { LocalFiles } from '../storage/local-files.ts';
import type { ListRow, Rendering } from './blocks.ts';
import { ListFetcher } from './fetch-list.ts';
import { lastFinalDay } from './finality.ts';
import { ListReader } from './list-reader.ts';
import { type ListParameters, type ListRequest, planList } from './list-request.ts';
import { PageSequences } from './page-sequences.ts';
import { Recent } from './recent.ts';
import { SingleFlight } from './single-flight.ts';
import { Sources } from './sources.ts';
import { isStorageFailure } from './storage-failures.ts';
import { ListStore } from './store.ts';
import { type AnyList, UnstoredLists } from './unstored-lists.ts';
import { within } from './within.ts';

export interface ListsOptions {
  readonly engine: Engine;
  readonly catalog: Catalog;
  readonly factFiles: CheckedFiles;
  readonly settings: Settings;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

interface Page extends Selection {
  readonly offset: number;
  /** Null: all that follow. */
  readonly limit: number | null;
  /** Who asks: all pages that one asks for come from the list of the first. */
  readonly reader: string;
}

/** What a page is read from. */
interface OpenList {
  readonly list: StoredList;
  /** What the list is of. */
  readonly range: Range;
  /** Rows that the filter leaves. */
  readonly total: number;
}

interface ListPage extends OpenList {
  /** Its rows as JSON without the brackets, in parts to be put together. */
  readonly json: Buffer[];
}

/** After a failed fetch an older list is served for so long before the provider is asked again, in milliseconds. */
const FAILURE_COOLDOWN_MS = 60_000;
const ERRORS_LOGGED_EVERY = 60_000;

/**
 * Page and query lists. Each is fetched once for all who ask, from a provider or own facts, and stored as a Parquet file
 * and a row of the catalog, so that all pages of a sequence come from one list, from whichever process.
 */
export class Lists {
  readonly providers: Providers;
  readonly #sources: Sources;
  readonly #options: ListsOptions;
  readonly #usage: UsageDatabase;
  readonly #sequences: PageSequences;
  readonly #store: ListStore;
  readonly #unstored: UnstoredLists;
  readonly #reader: ListReader;
  readonly #flights: SingleFlight;
  readonly #fetcher: ListFetcher;
  readonly #recentFailures: Recent<Error>;

  constructor(options: ListsOptions) {
    const { engine, catalog, factFiles, settings, log, now } = options;
    const { dataFolder } = settings;
    const limits = { lists: settings.listMax, bytes: settings.listDiskBudget };
    this.#options = options;
    const files = new LocalFiles(dataFolder);
    // Before anything is opened: this may be what fails.
    files.prepare('lists/new');
    this.#flights = new SingleFlight(dataFolder);
    this.#usage = new UsageDatabase(dataFolder, warnSometimes(log));
    this.#sequences = new PageSequences(this.#usage, now);
    this.#store = new ListStore({
      catalog,
      usage: this.#usage,
      sequences: this.#sequences,
      files,
      limits,
      log,
    });
    this.#unstored = new UnstoredLists(now);
    this.#reader = new ListReader({ engine, store: this.#store, memory: settings.listMemory, log });
    this.providers = new Providers({ catalog, usage: this.#usage, settings, log, now });
    this.#fetcher = new ListFetcher(this.providers.gateway, log);
    this.#recentFailures = new Recent(now, FAILURE_COOLDOWN_MS, 10_000);
    this.#sources = new Sources({ engine, catalog, factFiles, providers: this.providers });
  }

  /** As `planList`. */
  plan(project: Project, params: ListParameters, catalog = this.#options.catalog): Promise<ListRequest> {
    return planList(this.#sources, project, params, catalog);
  }

  /**
   * Rows `offset` to `offset + limit` of a list. Throws `google_access_lost`, `unavailable` where there is no list
   * in time, and `UnreadableList` where it was lost just now: plan again then, and ask once more.
   */
  page(request: ListRequest, page: Page, rendering: Rendering, signal: AbortSignal): Promise<ListPage> {
    return this.#read(request, page, rendering, signal, async (list, rows) => ({
      json: await this.#reader.read(list, rows, rendering),
    }));
  }

  /** As `page`, but the rows themselves, some at a time, each part read when it is asked for. */
  rows(
    request: ListRequest,
    page: Page,
    rendering: Rendering,
    signal: AbortSignal,
  ): Promise<OpenList & { readonly rows: AsyncIterable<readonly ListRow[]> }> {
    return this.#read(request, page, rendering, signal, async (list, rows) => ({
      rows: await this.#reader.rows(list, rows, signal),
    }));
  }

  async #read<T>(
    request: ListRequest,
    { filter, sort, reader, offset, limit }: Page,
    rendering: Rendering,
    signal: AbortSignal,
    read: (list: AnyList, rows: { from: number; to: number }) => Promise<T>,
  ): Promise<OpenList & T> {
    const isSelection = filter !== null || sort !== null;
    const sequence = isSelection ? cacheKey(request.sequence, { filter, sort }) : request.sequence;
    const begun = offset > 0 ? await this.#sequences.find({ reader, sequence, offset }) : undefined;
    try {
      const isThere = begun !== undefined && this.#store.has(begun.list);
      const { list, range } = isThere ? begun : { list: await this.get(request, signal), range: request.range };
      if (list.file !== '') this.#store.noteUse(list);
      const selected = isSelection ? await this.#reader.select(list, { filter, sort }, rendering) : list;
      const total = selected.rows;
      const next = limit === null ? total : offset + limit;
      const found = await read(selected, { from: offset, to: Math.min(total, next) });
      if (list.file !== '' && limit !== null) {
        await this.#sequences.remember({ reader, sequence, offset: next }, { list, range });
      }
      return { list, range, total, ...found };
    } catch (error) {
      if (error instanceof KnownError || !isStorageFailure(error)) throw error;
      throw unavailable('The service cannot read or write its lists right now; ask again later.', error);
    }
  }

  /** The list of a request: the one that is stored, or a new one. */
  async get(request: ListRequest, signal: AbortSignal): Promise<AnyList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const stored = await this.#find(request.key);
    if (stored !== undefined && this.#isFresh(stored)) return stored;
    const key = cacheKey(request.key);
    // Where there is nothing to serve meanwhile, the provider is asked at once.
    const failed = stored === undefined ? undefined : this.#recentFailures.get(key);
    try {
      if (failed !== undefined) throw failed;
      return await this.#wait(request, signal);
    } catch (error) {
      // The row of the catalog again: the list may be gone since.
      const older = signal.aborted ? undefined : await this.#find(request.key);
      if (older === undefined) throw toKnownError(error);
      if (failed === undefined) this.#recentFailures.set(key, error as Error);
      const known = toKnownError(error);
      if (known instanceof KnownError && known.code === 'google_access_lost') throw known;
      return older;
    }
  }

  /**
   * As `get`, for one who waits as long as it takes, behind all requests. For operators: throws what a provider said,
   * and no older list is used instead of a missing one.
   */
  async fetchAhead(request: ListRequest): Promise<AnyList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const stored = await this.#find(request.key);
    if (stored !== undefined && this.#isFresh(stored)) return stored;
    return this.#fetch(request, 'background', new AbortController().signal);
  }

  /** Ends fetches that are under way, and with them the requests that wait. */
  stop(): void {
    this.providers.gateway.stop();
  }

  /** Resolves when nothing is under way any more and what was counted is written. */
  async close(): Promise<void> {
    this.stop();
    await this.#flights.drain();
    await this.#store.flush();
    this.#usage.close();
  }

  async #find(key: ListKey): Promise<AnyList | undefined> {
    return this.#unstored.find(cacheKey(key)) ?? (await this.#store.find(key));
  }

  #fetch(request: ListRequest, demand: 'client' | 'background', signal: AbortSignal): Promise<AnyList> {
    const { key, project, kind, range, country, sources } = request;
    const { now } = this.#options;
    const done = async (): Promise<AnyList | undefined> => {
      const list = await this.#find(key);
      return list !== undefined && this.#isFresh(list) ? list : undefined;
    };
    const work = async (demanded: () => Demand): Promise<AnyList> => {
      const query = { kind, property: project.property, range, country };
      // Before the fetch: a day that becomes final meanwhile was read while it was not.
      const isFinal = !request.fromProvider || range.to <= lastFinalDay(project, now());
      const fetched = await this.#fetcher.fetch(query, sources, demanded);
      using ranked = fetched.ranked;
      const { source, rows, truncated, capped, complete, isFallback } = fetched;
      const final = isFinal && complete && !isFallback;
      const list = { source, rows, truncated, capped, final, fetchedAt: toMicroseconds(now()) };
      try {
        if (rows === 0) {
          await this.#store.remove(key);
          return this.#unstored.keep(cacheKey(key), { ...list, ...NO_FILE });
        }
        const stored = await this.#store.put(key, ranked, list);
        this.#unstored.forget(cacheKey(key));
        return stored;
      } catch (error) {
        this.#options.log.warn({ err: error, list: kind, property: query.property }, 'a list could not be stored');
        return this.#unstored.keep(cacheKey(key), { ...list, ...NO_FILE, held: await ranked.read(rows) });
      }
    };
    const { stopped } = this.providers.gateway;
    return this.#flights.run(cacheKey(key), { done, work, stopped }, { signal, demand });
  }

  /** The end of a fetch, or 503 when it takes too long. Once begun the fetch goes on, also when the client goes away. */
  async #wait(request: ListRequest, signal: AbortSignal): Promise<AnyList> {
    const leaving = new AbortController();
    try {
      return await within(this.#options.settings.listWait, signal, this.#fetch(request, 'client', leaving.signal));
    } finally {
      leaving.abort();
    }
  }

  #isFresh(list: AnyList): boolean {
    // What is not stored is forgotten before it is old.
    if (list.final || list.file === '') return true;
    const { now, settings } = this.#options;
    return toMicroseconds(now()) - list.fetchedAt < settings.listLifetime * 1e6;
  }

  #emptyList({ source }: ListRequest): AnyList {
    const fetchedAt = toMicroseconds(this.#options.now());
    return { ...NO_FILE, source, rows: 0, truncated: false, capped: false, final: false, fetchedAt };
  }
}

const NO_FILE = { file: '', bytes: 0, sha256: '' };

/** Logs that usage cannot be kept, and not with each request. */
function warnSometimes(log: ListsOptions['log']): (error: unknown) => void {
  let at = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - at < ERRORS_LOGGED_EVERY) return;
    at = performance.now();
    log.warn({ err: error }, 'the use of lists was not noted');
  };
}
