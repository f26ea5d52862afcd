import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConnectionKind } from '../catalog/connections.ts';
import { changePause, findPause, type ProviderPause } from '../catalog/provider-pauses.ts';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { nextPacificMidnight, pacificDayOf } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from './failures.ts';

interface PausesOptions {
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
}

/** Load quota comes back in pieces of ten minutes; asking within them only prolongs it. In milliseconds. */
const LOAD_PAUSE = 900_000;
const RATE_PAUSE = 60_000;
/** The longest that a provider may ask for by `Retry-After`. */
const MAX_ASKED = 900_000;

/** Times in which a property is not read at a provider. They are in the catalog: all processes keep them. */
export class Pauses {
  readonly #options: PausesOptions;
  /** Those that the catalog could not take. */
  readonly #unwritten = new Map<CacheKey, ProviderPause>();

  constructor(options: PausesOptions) {
    this.#options = options;
  }

  /** Throws `ProviderFailure` during a pause. */
  async check(provider: ConnectionKind, property: string): Promise<void> {
    const { catalog, now } = this.#options;
    const stored = await findPause(catalog, provider, property);
    const unwritten = this.#unwritten.get(cacheKey(provider, property));
    for (const pause of [stored, unwritten]) {
      if (pause === undefined || pause.until <= toMicroseconds(now())) continue;
      const end = pause.until / 1000;
      const message = `${provider} is left alone until ${new Date(end).toISOString()}`;
      throw new ProviderFailure(pause.reason, message, { passing: false, retryAfter: end - now() });
    }
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
    const change = (before: ProviderPause | undefined) => nextPause(before, failure, { now: now(), afterPassing });
    // Most failures begin none, and take no transaction.
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
 * The pause that a failure asks for after the last one; undefined where that goes on as it is. Too much load is a pause
 * of a quarter of an hour, the second time on a Pacific day until that day ends. What is refused during a pause was
 * asked before it, and does not prolong it.
 */
export function nextPause(
  before: ProviderPause | undefined,
  failure: ProviderFailure,
  { now, afterPassing }: { readonly now: number; readonly afterPassing: number },
): ProviderPause | undefined {
  const isPaused = before !== undefined && before.until > toMicroseconds(now);
  const lastRefusal = before?.loadRefusedOn ?? null;
  if (failure.kind === 'load-quota') {
    if (isPaused && before.reason === 'load-quota') return undefined;
    const today = pacificDayOf(now);
    const short = now + LOAD_PAUSE;
    const until = lastRefusal === today ? Math.max(short, nextPacificMidnight(now)) : short;
    return { until: toMicroseconds(until), reason: 'load-quota', loadRefusedOn: today };
  }
  const asked = Math.min(failure.retryAfter ?? 0, MAX_ASKED);
  const isRate = failure.kind === 'rate-limit';
  const afterFailure = failure.passing && afterPassing > 0 ? afterPassing : asked;
  const pause = isRate ? Math.max(RATE_PAUSE, asked) : afterFailure;
  if (isPaused || pause === 0) return undefined;
  return { until: toMicroseconds(now + pause), reason: isRate ? 'rate-limit' : 'broken', loadRefusedOn: lastRefusal };
}
