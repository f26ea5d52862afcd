import type { FastifyBaseLogger } from 'fastify';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConnectionKind } from '../catalog/connections.ts';
import { pausedUntil } from '../catalog/kept-lists.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from './failures.ts';
import type { Attempts } from './retries.ts';
import type { Question, Source, Written } from './source.ts';

export interface FetchesOptions {
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Milliseconds that a request waits: as long may failed requests to a provider be repeated. */
  readonly patience: number;
  /** Fetches at a time, in all and of one property. */
  readonly fetches: number;
  readonly fetchesPerProperty: number;
}

export type Fetched = Written & {
  readonly source: Source['kind'];
  /** A better source failed and may give a better list later. */
  readonly secondBest: boolean;
};

/** Load quota comes back in pieces of ten minutes; asking within them only prolongs it. */
const QUOTA_PAUSE = 900_000;
/** A warehouse that did not answer is not waited for again by each list, while the reporting API answers. */
const WAREHOUSE_PAUSE = 120_000;
/** With another source at hand, a warehouse gets this part of the time for retries. */
const WAREHOUSE_SHARE = 0.25;
/** Pauses between retries start with this part of the patience: a second of a minute. */
const FIRST_PAUSE = 1 / 60;
/** Lists that are computed from own facts at a time; light questions need the other threads. */
const COMPUTED_AT_ONCE = 1;
/** No fetch lasts longer, in milliseconds. */
const LONGEST = 900_000;

/** Fetches lists from the first of their sources that gives them, some at a time, and tells the log what each was. */
export class Fetches {
  readonly #options: FetchesOptions;
  readonly #all: LimitFunction;
  /** Lists computed from own facts: heavy for us, not for a provider. */
  readonly #own = pLimit(COMPUTED_AT_ONCE);
  readonly #perProperty = new Map<string, LimitFunction>();
  readonly #stop = new AbortController();

  constructor(options: FetchesOptions) {
    this.#options = options;
    this.#all = pLimit(options.fetches);
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends what is under way, and all that would come. */
  stop(): void {
    this.#stop.abort(new ProviderFailure('broken', 'the service is stopping'));
  }

  /** Writes a list to `target` from the first source that gives it. Throws the failure of the last one. */
  async fetch(question: Question, sources: readonly Source[], target: string): Promise<Fetched> {
    let secondBest = false;
    for (const [index, source] of sources.entries()) {
      const isLast = index === sources.length - 1;
      try {
        const written = await this.#fromSource({ ...question, newestMayLack: isLast }, source, target, isLast);
        return { ...written, source: source.kind, secondBest };
      } catch (error) {
        if (isLast || !(error instanceof ProviderFailure) || this.stopped.aborted) throw error;
        if (error.kind !== 'not-covered') secondBest = true;
      }
    }
    throw new Error('a fetch needs a source');
  }

  async #fromSource(question: Question, source: Source, target: string, isLast: boolean): Promise<Written> {
    if (source.name === 'facts') return this.#own(() => this.#logged(question, source, target, isLast));
    this.#checkPause(source.name, question.property);
    try {
      // The place of the property first: a fetch that waits for it takes none of all.
      return await this.#limitOf(question.property)(() => {
        this.#checkPause(source.name as ConnectionKind, question.property);
        return this.#all(() => this.#logged(question, source, target, isLast));
      });
    } catch (error) {
      if (error instanceof ProviderFailure) await this.#pauseAfter(error, source.name, question.property, isLast);
      throw error;
    }
  }

  async #logged(question: Question, source: Source, target: string, isLast: boolean): Promise<Written> {
    const { log, patience } = this.#options;
    const started = performance.now();
    const attempts: Attempts = {
      requests: 0,
      retries: 0,
      retryUntil: started + patience * (isLast ? 1 : WAREHOUSE_SHARE),
      pause: patience * FIRST_PAUSE,
      signal: AbortSignal.any([this.stopped, AbortSignal.timeout(LONGEST)]),
    };
    const { kind: list, property, range, country } = question;
    const line = () => ({
      property,
      list,
      ...range,
      country,
      source: source.name,
      requests: attempts.requests,
      retries: attempts.retries,
      ms: Math.round(performance.now() - started),
    });
    try {
      const written = await source.write(question, target, attempts);
      const { rows, truncated } = written;
      log.info({ ...line(), rows, truncated, outcome: 'fetched' }, 'list fetched');
      return written;
    } catch (error) {
      const failure = this.#meaningOf(error, attempts.signal);
      if (failure instanceof ProviderFailure) {
        log.warn({ ...line(), rows: 0, outcome: failure.kind, reason: failure.message }, 'list not fetched');
      }
      throw failure;
    }
  }

  #meaningOf(error: unknown, signal: AbortSignal): unknown {
    if (!signal.aborted) return error;
    return this.stopped.aborted
      ? (this.stopped.reason as Error)
      : new ProviderFailure('broken', `the fetch took longer than ${LONGEST / 1000} s`);
  }

  #checkPause(kind: ConnectionKind, property: string): void {
    const { catalog, now } = this.#options;
    const until = pausedUntil(catalog, kind, property);
    if (until > toMicroseconds(now())) {
      throw new ProviderFailure('load-quota', `${kind} is left alone until ${new Date(until / 1000).toISOString()}`);
    }
  }

  async #pauseAfter(failure: ProviderFailure, kind: ConnectionKind, property: string, isLast: boolean): Promise<void> {
    const { catalog, now } = this.#options;
    const asked = Math.min(failure.retryAfter ?? 0, QUOTA_PAUSE);
    const pause = failure.kind === 'load-quota' ? QUOTA_PAUSE : !isLast && failure.passing ? WAREHOUSE_PAUSE : asked;
    if (pause === 0 || this.stopped.aborted) return;
    const already = pausedUntil(catalog, kind, property);
    // The answer "left alone" itself does not prolong the pause.
    if (already > toMicroseconds(now())) return;
    await catalog.patiently(() => catalog.run('pause_set', { kind, property, until: toMicroseconds(now() + pause) }));
  }

  #limitOf(property: string): LimitFunction {
    for (const [name, limit] of this.#perProperty) {
      if (limit.activeCount + limit.pendingCount === 0) this.#perProperty.delete(name);
    }
    let limit = this.#perProperty.get(property);
    if (limit === undefined) {
      limit = pLimit(this.#options.fetchesPerProperty);
      this.#perProperty.set(property, limit);
    }
    return limit;
  }
}
