import type { Catalog } from '../catalog/catalog.ts';
import { type Connection, connectionsOf } from '../catalog/connections.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { KnownError } from '../domain/errors.ts';
import { ProviderFailure, toKnownError } from '../providers/failures.ts';
import { jobOfCommand } from '../providers/gateway.ts';
import type { Crawl } from '../providers/provider.ts';
import type { Providers } from '../providers/providers.ts';
import { providerOf } from '../providers/registry.ts';
import { SingleFlight } from '../runtime/promises.ts';
import { Recent } from './recent.ts';
import { within } from './within.ts';

export interface FetchedCrawl extends Crawl {
  /** Milliseconds. */
  readonly fetchedAt: number;
}

const MAX_KEPT = 500;

/** What Bing's crawler found: fetched when it is asked for, and kept in memory as long as lists are. */
export class Crawls {
  readonly #providers: Providers;
  readonly #flights = new SingleFlight<FetchedCrawl>();
  readonly #kept: Recent<FetchedCrawl>;

  constructor(providers: Providers) {
    this.#providers = providers;
    this.#kept = new Recent(providers.now, providers.settings.listLifetime * 1000, MAX_KEPT);
  }

  /** The connection of a project that tells of a crawler. */
  async connectionOf(catalog: Catalog, project: string): Promise<Connection | undefined> {
    return (await connectionsOf(catalog, project)).find(({ kind }) => kind === 'bing');
  }

  /** @param url a page, or null for the days of the site. Returns why it is not known, if the provider fails. */
  async read(
    connection: Connection,
    { property, url }: { readonly property: string; readonly url: string | null },
    signal: AbortSignal,
  ): Promise<FetchedCrawl | { readonly reason: string }> {
    const key = cacheKey(connection, property, url);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const { gateway, settings } = this.#providers;
    try {
      const fetch = this.#flights.run(key, signal, () => this.#fetch(connection, property, url));
      const fetched = await within(settings.listWait, signal, fetch);
      this.#kept.set(key, fetched);
      return fetched;
    } catch (error) {
      // Stored days are answered without those that Bing would tell.
      const isLate = error instanceof KnownError && error.reason === 'list-wait' && !signal.aborted;
      if (isLate && url === null) return { reason: 'Bing has not answered yet; try again in a minute.' };
      if (!(error instanceof ProviderFailure) || gateway.stopped.aborted) throw error;
      return { reason: (toKnownError(error, providerOf(connection.kind).errors) as Error).message };
    }
  }

  async #fetch(connection: Connection, property: string, url: string | null): Promise<FetchedCrawl> {
    const provider = providerOf(connection.kind);
    const client = this.#providers.connect(provider, connection);
    const job = { ...jobOfCommand(provider.kind, property, 'crawl'), limited: await client.limitedBy?.() };
    const crawl = await this.#providers.gateway.run(
      job,
      (run) => client.fetchCrawl!(property, url, run),
      ({ page, days }) => ({ rows: page === null ? days.length : 1 }),
    );
    return { ...crawl, fetchedAt: this.#providers.now() };
  }
}
