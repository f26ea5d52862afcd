import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConnectionKind } from '../catalog/connections.ts';
import { pausedUntil } from '../catalog/stored-lists.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from './failures.ts';
import { type Demand, Places } from './places.ts';
import type { Attempts } from './retries.ts';

export interface GatewayOptions {
  readonly catalog: Catalog;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Milliseconds that a request waits: for as long may failed requests to a provider be repeated. */
  readonly waitTime: number;
  /** Fetches at a time, in all and of one property. */
  readonly places: number;
  readonly placesPerProperty: number;
}

/** One conversation with a provider, or the work on own facts, about one property. */
export interface Job {
  readonly provider: ConnectionKind | 'facts';
  readonly property: string;
  readonly demand: () => Demand;
  /** Which part of the time for retries it may take, from 0 to 1. */
  readonly retryShare: number;
  /** Milliseconds that the provider is left alone after a failure that may pass; 0: it is asked again at once. */
  readonly pauseAfterFailure: number;
  /** What the log says of it, besides what it cost. */
  readonly line: object;
}

/** Load quota comes back in pieces of ten minutes; asking within them only prolongs it. */
const QUOTA_PAUSE = 900_000;
/** Pauses between retries start with this part of the wait: a second of a minute. */
const FIRST_PAUSE = 1 / 60;
/** A fetch that takes longer than this part of the wait leaves its place to others, of whom so many times may do so. */
const SLOW_AFTER = 1 / 6;
const SLOW_PLACES = 6;
/** Lists that are computed from own facts at a time; light questions need the other threads. */
const MAX_COMPUTED = 1;
/** No fetch lasts longer, in milliseconds. */
const MAX_TIME = 900_000;

/** All that goes to providers passes here: places, pauses, and a line in the log for each conversation. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #places: Places;
  /** Work on own facts: heavy for us, not for a provider. */
  readonly #own = new Places({ all: MAX_COMPUTED, perOwner: MAX_COMPUTED, slowAfter: MAX_TIME, slow: 0 });
  readonly #stop = new AbortController();
  /** Pauses that the catalog could not take. */
  readonly #unwritten = new Map<string, Microseconds>();

  constructor(options: GatewayOptions) {
    const { places: all, placesPerProperty: perOwner, waitTime } = options;
    this.#options = options;
    this.#places = new Places({ all, perOwner, slowAfter: waitTime * SLOW_AFTER, slow: all * SLOW_PLACES });
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends what is under way, and all that would come. */
  stop(): void {
    const reason = new ProviderFailure('broken', 'the service is stopping');
    this.#stop.abort(reason);
    this.#places.clear(reason);
    this.#own.clear(reason);
  }

  /** Runs `work` when there is a place for it. `counts` of what it gives stand in the log. */
  async run<T>(job: Job, work: (attempts: Attempts) => Promise<T>, counts: (result: T) => object): Promise<T> {
    const { provider, property, demand } = job;
    const begin = (): Promise<T> => {
      this.stopped.throwIfAborted();
      if (provider !== 'facts') this.#checkPause(provider, property);
      return this.#logged(job, work, counts);
    };
    this.stopped.throwIfAborted();
    if (provider === 'facts') return this.#own.run(property, demand, begin);
    this.#checkPause(provider, property);
    try {
      return await this.#places.run(property, demand, begin);
    } catch (error) {
      if (error instanceof ProviderFailure) await this.#pauseAfter(error, job);
      throw error;
    }
  }

  async #logged<T>(job: Job, work: (attempts: Attempts) => Promise<T>, counts: (result: T) => object): Promise<T> {
    const { log, waitTime } = this.#options;
    const started = performance.now();
    const attempts: Attempts = {
      requests: 0,
      retries: 0,
      retryUntil: started + waitTime * job.retryShare,
      pause: waitTime * FIRST_PAUSE,
      signal: AbortSignal.any([this.stopped, AbortSignal.timeout(MAX_TIME)]),
    };
    const line = () => ({
      property: job.property,
      ...job.line,
      source: job.provider,
      requests: attempts.requests,
      retries: attempts.retries,
      ms: Math.round(performance.now() - started),
    });
    try {
      const result = await work(attempts);
      log.info({ ...line(), ...counts(result), outcome: 'fetched' }, 'list fetched');
      return result;
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
      : new ProviderFailure('broken', `the fetch took longer than ${MAX_TIME / 1000} s`);
  }

  #pausedUntil(kind: ConnectionKind, property: string): Microseconds {
    const unwritten = this.#unwritten.get(JSON.stringify([kind, property])) ?? 0;
    return Math.max(pausedUntil(this.#options.catalog, kind, property), unwritten);
  }

  #checkPause(kind: ConnectionKind, property: string): void {
    const until = this.#pausedUntil(kind, property);
    if (until > toMicroseconds(this.#options.now())) {
      throw new ProviderFailure('load-quota', `${kind} is left alone until ${new Date(until / 1000).toISOString()}`);
    }
  }

  async #pauseAfter(failure: ProviderFailure, { provider, property, pauseAfterFailure }: Job): Promise<void> {
    const { catalog, now, log } = this.#options;
    if (provider === 'facts' || this.stopped.aborted) return;
    const asked = Math.min(failure.retryAfter ?? 0, QUOTA_PAUSE);
    const failed = failure.passing && pauseAfterFailure > 0 ? pauseAfterFailure : asked;
    const pause = failure.kind === 'load-quota' ? QUOTA_PAUSE : failed;
    // The answer "left alone" itself does not prolong the pause.
    if (pause === 0 || this.#pausedUntil(provider, property) > toMicroseconds(now())) return;
    const until = toMicroseconds(now() + pause);
    try {
      await catalog.patiently(() => catalog.run('pause_set', { kind: provider, property, until }));
    } catch (error) {
      this.#unwritten.set(JSON.stringify([provider, property]), until);
      log.warn({ err: error, property }, 'a pause could not be stored');
    }
  }
}
