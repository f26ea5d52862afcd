import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { changePause, findPause, type ProviderPause } from '../catalog/connections.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import type { Day } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from './failures.ts';

/** How long a provider is left alone after it refused a request, and the days of its quotas. Milliseconds. */
export interface Pacing {
  /** After an exhausted quota: the second time on a day, until it ends. */
  readonly quotaPause: number;
  /** After too many requests, at least. */
  readonly ratePause: number;
  readonly dayOf: (now: number) => Day;
  readonly endOfDay: (now: number) => number;
}

interface PausesOptions {
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Of a kind of provider. */
  readonly pacingOf: (provider: string) => Pacing;
}

/** The longest accepted `Retry-After`. */
const MAX_RETRY_AFTER = 900_000;

/** Pauses in which a property is not read from a provider. Stored in the catalog, for all processes. */
export class Pauses {
  readonly #options: PausesOptions;
  /** Pauses that could not be stored. */
  readonly #unwritten = new Map<CacheKey, ProviderPause>();

  constructor(options: PausesOptions) {
    this.#options = options;
  }

  /** Throws `ProviderFailure` during a pause. */
  async check(provider: string, property: string): Promise<void> {
    const { catalog, now } = this.#options;
    const stored = await findPause(catalog, provider, property);
    const unwritten = this.#unwritten.get(cacheKey(provider, property));
    for (const pause of [stored, unwritten]) {
      if (pause === undefined || pause.until <= toMicroseconds(now())) continue;
      const end = pause.until / 1000;
      const message = `${provider} is paused until ${new Date(end).toISOString()}`;
      throw new ProviderFailure(pause.reason, message, { passing: false, retryAfter: end - now() });
    }
  }

  /**
   * Starts the pause that a failure requires, if any.
   * @param afterPassing pause after a transient failure in milliseconds
   */
  async begin(failure: ProviderFailure, provider: string, property: string, afterPassing: number): Promise<void> {
    const { catalog, now, log, pacingOf } = this.#options;
    const pacing = pacingOf(provider);
    const change = (before: ProviderPause | undefined) =>
      nextPause(before, failure, { now: now(), afterPassing, pacing });
    // Most failures need no pause and no transaction.
    if (change(undefined) === undefined) return;
    try {
      await changePause(catalog, provider, property, change);
    } catch (error) {
      const key = cacheKey(provider, property);
      const pause = change(this.#unwritten.get(key));
      if (pause !== undefined) this.#unwritten.set(key, pause);
      log.warn({ err: error, property }, 'a pause could not be stored');
    }
  }
}

/**
 * The pause that a failure requires; undefined if the current state remains. Failures during a pause come from earlier
 * requests and do not prolong it.
 */
export function nextPause(
  before: ProviderPause | undefined,
  failure: ProviderFailure,
  { now, afterPassing, pacing }: { readonly now: number; readonly afterPassing: number; readonly pacing: Pacing },
): ProviderPause | undefined {
  const isPaused = before !== undefined && before.until > toMicroseconds(now);
  const lastRefusal = before?.loadRefusedOn ?? null;
  if (failure.kind === 'load-quota') {
    if (isPaused && before.reason === 'load-quota') return undefined;
    const today = pacing.dayOf(now);
    const short = now + pacing.quotaPause;
    const until = lastRefusal === today ? Math.max(short, pacing.endOfDay(now)) : short;
    return { until: toMicroseconds(until), reason: 'load-quota', loadRefusedOn: today };
  }
  const retryAfter = Math.min(failure.retryAfter ?? 0, MAX_RETRY_AFTER);
  const isRate = failure.kind === 'rate-limit';
  const afterFailure = failure.passing && afterPassing > 0 ? afterPassing : retryAfter;
  const pause = isRate ? Math.max(pacing.ratePause, retryAfter) : afterFailure;
  if (isPaused || pause === 0) return undefined;
  return { until: toMicroseconds(now + pause), reason: isRate ? 'rate-limit' : 'broken', loadRefusedOn: lastRefusal };
}
