import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConnectionKind } from '../catalog/connections.ts';
import { pausedUntil, setPause } from '../catalog/provider-pauses.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from './failures.ts';

interface PausesOptions {
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** Load quota comes back in pieces of ten minutes; asking within them only prolongs it. */
const QUOTA_PAUSE = 900_000;

/** Times in which a property is not read at a provider. They are in the catalog: all processes keep them. */
export class Pauses {
  readonly #options: PausesOptions;
  /** Those that the catalog could not take. */
  readonly #unwritten = new Map<CacheKey, Microseconds>();

  constructor(options: PausesOptions) {
    this.#options = options;
  }

  /** Throws `ProviderFailure` during a pause. */
  async check(provider: ConnectionKind, property: string): Promise<void> {
    const until = await this.#until(provider, property);
    if (until <= toMicroseconds(this.#options.now())) return;
    const end = new Date(until / 1000).toISOString();
    throw new ProviderFailure('load-quota', `${provider} is left alone until ${end}`);
  }

  /**
   * Begins the pause that a failure asks for, if any.
   * @param afterPassing milliseconds that the provider is left alone after a failure that may pass
   */
  async begin(
    failure: ProviderFailure,
    provider: ConnectionKind,
    property: string,
    afterPassing: number,
  ): Promise<void> {
    const { catalog, now, log } = this.#options;
    const asked = Math.min(failure.retryAfter ?? 0, QUOTA_PAUSE);
    const failed = failure.passing && afterPassing > 0 ? afterPassing : asked;
    const pause = failure.kind === 'load-quota' ? QUOTA_PAUSE : failed;
    // The failure that a pause itself causes does not prolong it.
    if (pause === 0 || (await this.#until(provider, property)) > toMicroseconds(now())) return;
    const until = toMicroseconds(now() + pause);
    try {
      await setPause(catalog, provider, property, until);
    } catch (error) {
      this.#unwritten.set(cacheKey(provider, property), until);
      log.warn({ err: error, property }, 'a pause could not be stored');
    }
  }

  async #until(provider: ConnectionKind, property: string): Promise<Microseconds> {
    const unwritten = this.#unwritten.get(cacheKey(provider, property)) ?? 0;
    return Math.max(await pausedUntil(this.#options.catalog, provider, property), unwritten);
  }
}
