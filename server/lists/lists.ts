import type { FastifyBaseLogger } from 'fastify';
import type { Catalog, OpenCatalog } from '../catalog/catalog.ts';
import type { Project } from '../catalog/projects.ts';
import type { ListKey } from '../catalog/stored-lists.ts';
import type { Usage } from '../catalog/usage.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { lastFinalDay } from '../domain/finality.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import type { DistantLists } from '../facts/reader.ts';
import { type ClientErrors, ProviderFailure, toKnownError } from '../providers/failures.ts';
import { GOOGLE_ERRORS } from '../providers/google/failures.ts';
import { Providers } from '../providers/providers.ts';
import { providerOf } from '../providers/registry.ts';
import type { Demand } from '../providers/slots.ts';
import type { Settings } from '../settings/settings.ts';
import type { FileStore } from '../storage/file-store.ts';
import { Crawls } from './crawls.ts';
import { ListFetcher } from './fetch-list.ts';
import { FetchOnce } from './fetch-once.ts';
import { ListPages } from './list-pages.ts';
import { ListReader } from './list-reader.ts';
import { type ListParameters, type ListRequest, planList } from './list-request.ts';
import { OwnRows } from './own-rows.ts';
import { PageSequences } from './page-sequences.ts';
import { Recent } from './recent.ts';
import { Sources } from './sources.ts';
import { ListStore } from './store.ts';
import { type AnyList, UnstoredLists } from './unstored-lists.ts';
import { within } from './within.ts';

export interface ListsOptions {
  readonly engine: Engine;
  readonly catalog: OpenCatalog;
  readonly usage: Usage;
  /** Files of facts and lists. */
  readonly files: FileStore;
  /** Undefined if DuckDB reads all facts. */
  readonly distant: DistantLists | undefined;
  readonly settings: Settings;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** How long an older list is served after a failed fetch before the next attempt, in milliseconds. */
const FAILURE_COOLDOWN_MS = 60_000;

/**
 * Page and query lists. Each is fetched once for all concurrent requests, from a provider or from stored facts, and stored as
 * a Parquet file with a catalog row.
 */
export class Lists {
  readonly providers: Providers;
  readonly pages: ListPages;
  readonly crawls: Crawls;
  readonly #sources: Sources;
  readonly #options: ListsOptions;
  readonly #store: ListStore;
  readonly #unstored: UnstoredLists;
  readonly #flights: FetchOnce;
  readonly #fetcher: ListFetcher;
  readonly #recentFailures: Recent<Error>;
  readonly #reader: ListReader;

  constructor(options: ListsOptions) {
    const { engine, catalog, usage, files, distant, settings, log, now } = options;
    const limits = { lists: settings.listMax, bytes: settings.listDiskBudget };
    this.#options = options;
    // First, before other resources are opened, because it may fail.
    files.prepare('lists/new');
    this.#flights = new FetchOnce(catalog.locks);
    const sequences = new PageSequences(usage, now);
    this.#store = new ListStore({
      catalog,
      usage,
      sequences,
      files,
      limits,
      log,
    });
    this.#unstored = new UnstoredLists(now);
    this.#reader = new ListReader({ engine, store: this.#store, memory: settings.listMemory, log });
    const get = (request: ListRequest, signal: AbortSignal): Promise<AnyList> => this.get(request, signal);
    this.pages = new ListPages({ get, sequences, store: this.#store, reader: this.#reader });
    this.providers = new Providers({ catalog, usage, settings, log, now });
    this.crawls = new Crawls(this.providers);
    this.#fetcher = new ListFetcher(this.providers.gateway, log);
    this.#recentFailures = new Recent(now, FAILURE_COOLDOWN_MS, 10_000);
    const rows = new OwnRows({ engine, files, distant, signal: this.providers.gateway.stopped });
    this.#sources = new Sources({ engine, catalog, rows, providers: this.providers });
  }

  /** The state of the cache of list blocks, for metrics. */
  get cache(): ListReader['cache'] {
    return this.#reader.cache;
  }

  /** See `planList`. */
  plan(project: Project, params: ListParameters, catalog: Catalog = this.#options.catalog): Promise<ListRequest> {
    return planList(this.#sources, project, params, catalog);
  }

  /** The stored list of a request, or a new one. */
  async get(request: ListRequest, signal: AbortSignal): Promise<AnyList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const stored = await this.#find(request.key);
    if (stored !== undefined && this.#isFresh(stored)) return stored;
    const key = cacheKey(request.key);
    // Without an older list to serve, the provider is queried despite a recent failure.
    const failed = stored === undefined ? undefined : this.#recentFailures.get(key);
    try {
      if (failed !== undefined) throw failed;
      return await this.#wait(request, signal);
    } catch (error) {
      // Reads the catalog again, because the list may have been removed.
      const older = signal.aborted ? undefined : await this.#find(request.key);
      const isLost = error instanceof ProviderFailure && error.kind === 'access-lost';
      if (older !== undefined && failed === undefined) this.#recentFailures.set(key, error as Error);
      if (older === undefined || isLost) throw toKnownError(error, errorsOf(request));
      return older;
    }
  }

  /**
   * Like `get` for operators: no timeout, and lower priority than requests. Throws the failure of the provider instead of
   * using an older list.
   */
  async fetchAhead(request: ListRequest): Promise<AnyList> {
    if (request.sources.length === 0) return this.#emptyList(request);
    const stored = await this.#find(request.key);
    if (stored !== undefined && this.#isFresh(stored)) return stored;
    return this.#fetch(request, 'background', new AbortController().signal);
  }

  /** Aborts running fetches and waiting requests. */
  stop(): void {
    this.providers.gateway.stop();
  }

  /** Stops, waits for running work and writes usage counters. */
  async close(): Promise<void> {
    this.stop();
    await this.#flights.drain();
    await this.#store.flush();
  }

  async #find(key: ListKey): Promise<AnyList | undefined> {
    return this.#unstored.find(cacheKey(key)) ?? (await this.#store.find(key));
  }

  #fetch(request: ListRequest, demand: 'client' | 'background', signal: AbortSignal): Promise<AnyList> {
    const { key, project, kind, range, country, type, pair, sources } = request;
    const { now } = this.#options;
    const done = async (): Promise<AnyList | undefined> => {
      const list = await this.#find(key);
      return list !== undefined && this.#isFresh(list) ? list : undefined;
    };
    const work = async (demanded: () => Demand): Promise<AnyList> => {
      const query = { kind, property: project.property, range, country, type, pair };
      // Evaluated before the fetch, because a day may become final during it.
      const isFinal =
        !request.fromProvider || range.to <= lastFinalDay(project.provisionalAfter, project.lastSyncedAt, now());
      const fetched = await this.#fetcher.fetch(query, sources, demanded);
      using ranked = fetched.ranked;
      const { source, rows, truncated, capped, complete, isFallback } = fetched;
      // A provider may later add rows for days without any: a property can be new to it.
      const final = isFinal && complete && !isFallback && (rows > 0 || !request.fromProvider);
      const list = { source, rows, truncated, capped, final, fetchedAt: toMicroseconds(now()) };
      try {
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

  /** Waits for a fetch; throws 503 after the timeout. A started fetch continues when the client disconnects. */
  async #wait(request: ListRequest, signal: AbortSignal): Promise<AnyList> {
    const leaving = new AbortController();
    try {
      return await within(this.#options.settings.listWait, signal, this.#fetch(request, 'client', leaving.signal));
    } finally {
      leaving.abort();
    }
  }

  #isFresh(list: AnyList): boolean {
    // Unstored lists expire earlier.
    if (list.final || list.file === '') return true;
    const { now, settings } = this.#options;
    return toMicroseconds(now()) - list.fetchedAt < settings.listLifetime * 1e6;
  }

  /** Its fetch time changes once per list lifetime, at the same moment in all processes. */
  #emptyList({ source }: ListRequest): AnyList {
    const { now, settings } = this.#options;
    const lifetime = settings.listLifetime * 1000;
    const fetchedAt = toMicroseconds(Math.floor(now() / lifetime) * lifetime);
    return { ...NO_FILE, source, rows: 0, truncated: false, capped: false, final: false, fetchedAt };
  }
}

/** What clients are told when the last source fails. */
function errorsOf({ sources }: ListRequest): ClientErrors {
  const provider = sources.at(-1)?.provider ?? null;
  return provider === null ? GOOGLE_ERRORS : providerOf(provider).errors;
}

const NO_FILE = { file: '', bytes: 0, sha256: '' };
