import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import type { ConnectionKind } from '../catalog/connections.ts';
import type { UsageDatabase } from '../catalog/usage.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { ProviderFailure } from './failures.ts';
import { Pauses } from './pauses.ts';
import { type Demand, Places } from './places.ts';
import { type RateLimits, RequestRate } from './request-rate.ts';
import type { ProviderRun } from './retries.ts';

export interface GatewayOptions {
  readonly catalog: Catalog;
  readonly usage: UsageDatabase;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Milliseconds that a client waits: for as long may failed requests to a provider be repeated. */
  readonly waitTime: number;
  /** Runs at a time, in all and of one property. */
  readonly places: number;
  readonly placesPerProperty: number;
  readonly rate: RateLimits;
}

/** One run of requests to a provider about one property. */
export interface ProviderJob {
  readonly provider: ConnectionKind;
  readonly property: string;
  readonly demand: () => Demand;
  /** Which part of the time for retries it may take, from 0 to 1. */
  readonly retryShare: number;
  /** Milliseconds that the provider is left alone after a failure that may pass; 0: it is asked again at once. */
  readonly pauseAfterFailure: number;
  /** For tests of a connection: the provider is asked although it is to be left alone. */
  readonly ignoresPauses?: boolean;
  /** Milliseconds after which the run is given up; a quarter of an hour where it is left out. */
  readonly maxTime?: number;
  /** It is part of something that has a line in the log of its own. */
  readonly isPart?: boolean;
  /** What is fetched, such as `list`: the log says `list fetched`. */
  readonly what: string;
  /** What the line of the log has besides what the run cost. */
  readonly line: object;
}

/** Pauses between retries start with this part of the wait: a second of a minute. */
const FIRST_PAUSE = 1 / 60;
/** A run that takes longer than this part of the wait leaves its place to others, of whom so many times may do so. */
const SLOW_AFTER = 1 / 6;
const SLOW_PLACES = 6;
const MAX_TIME = 900_000;

/**
 * All that goes to providers passes here: places, limits on requests, pauses, and one line in the log for each run. It
 * knows nothing of what is fetched.
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #places: Places;
  readonly #rate: RequestRate;
  readonly #pauses: Pauses;
  readonly #stop = new AbortController();

  constructor(options: GatewayOptions) {
    const { places: all, placesPerProperty: perOwner, waitTime, usage, rate } = options;
    this.#options = options;
    this.#places = new Places({ all, perOwner, slowAfter: waitTime * SLOW_AFTER, slow: all * SLOW_PLACES });
    this.#rate = new RequestRate(usage, rate);
    this.#pauses = new Pauses(options);
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends what is under way, and all that would come. */
  stop(): void {
    const reason = new ProviderFailure('broken', 'the service is stopping');
    this.#stop.abort(reason);
    this.#places.clear(reason);
  }

  /**
   * Runs `work` when there is a place for it. `counts` of what it gives stand in the log. Throws `ProviderFailure` where
   * the provider does not give it, also during a pause; `NoDemand` where nobody waits any more when its turn comes.
   */
  async run<T>(job: ProviderJob, work: (run: ProviderRun) => Promise<T>, counts: (result: T) => object): Promise<T> {
    const { provider, property, demand } = job;
    await this.#checkPause(job);
    try {
      return await this.#places.run(property, demand, async () => {
        await this.#checkPause(job);
        return this.#logged(job, work, counts);
      });
    } catch (error) {
      if (error instanceof ProviderFailure && !this.stopped.aborted) {
        await this.#pauses.begin(error, provider, property, job.pauseAfterFailure);
      }
      throw error;
    }
  }

  async #checkPause({ provider, property, ignoresPauses = false }: ProviderJob): Promise<void> {
    this.stopped.throwIfAborted();
    if (!ignoresPauses) await this.#pauses.check(provider, property);
  }

  async #logged<T>(
    job: ProviderJob,
    work: (run: ProviderRun) => Promise<T>,
    counts: (result: T) => object,
  ): Promise<T> {
    const { log, waitTime } = this.#options;
    const { provider, property, what, maxTime = MAX_TIME } = job;
    const started = performance.now();
    const signal = AbortSignal.any([this.stopped, AbortSignal.timeout(maxTime)]);
    const run: ProviderRun = {
      requests: 0,
      retries: 0,
      retryUntil: started + waitTime * job.retryShare,
      firstPause: waitTime * FIRST_PAUSE,
      signal,
      admit: async () => {
        await this.#rate.admit(cacheKey(provider, property), job.demand, signal);
        // Another run, in whichever process, may have begun a pause since this one began.
        await this.#checkPause(job);
      },
    };
    const line = () => ({
      property,
      ...job.line,
      source: provider,
      requests: run.requests,
      retries: run.retries,
      ms: Math.round(performance.now() - started),
    });
    try {
      const result = await work(run);
      if (job.isPart !== true) log.info({ ...line(), ...counts(result), outcome: 'fetched' }, `${what} fetched`);
      return result;
    } catch (error) {
      const failure = this.#meaningOf(error, signal, maxTime);
      if (failure instanceof ProviderFailure && job.isPart !== true) {
        log.warn({ ...line(), rows: 0, outcome: failure.kind, reason: failure.message }, `${what} not fetched`);
      }
      throw failure;
    }
  }

  #meaningOf(error: unknown, signal: AbortSignal, maxTime: number): unknown {
    if (!signal.aborted) return error;
    return this.stopped.aborted
      ? (this.stopped.reason as Error)
      : new ProviderFailure('broken', `the fetch took longer than ${maxTime / 1000} s`);
  }
}
