import type { FastifyBaseLogger } from 'fastify';
import type { Catalog } from '../catalog/catalog.ts';
import { countRequestsLeft, type DayLimit, takeRequestOfDay, type Usage } from '../catalog/usage.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { ProviderFailure } from './failures.ts';
import { type Pacing, Pauses } from './pauses.ts';
import { type RateLimits, RequestRate } from './request-rate.ts';
import type { ProviderRun } from './retries.ts';
import { type Demand, Displaced, Slots } from './slots.ts';

export interface GatewayOptions {
  readonly catalog: Catalog;
  readonly usage: Usage;
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  /** Milliseconds, as `Date.now`. */
  readonly now: () => number;
  /** Milliseconds that a client waits, and the time for retries. */
  readonly waitTime: number;
  /** Concurrent runs, in total and per property. */
  readonly slots: number;
  readonly slotsPerProperty: number;
  readonly rate: RateLimits;
  /** Of a kind of provider. */
  readonly pacingOf: (provider: string) => Pacing;
}

/** A run of requests to a provider for one property. */
export interface ProviderJob {
  /** The kind of the connection. */
  readonly provider: string;
  readonly property: string;
  /** What limits and pauses apply to, if that is not the property. */
  readonly limited?: string | undefined;
  /** Limits of requests besides those of all: per second, if it is less, and on a day of the provider. */
  readonly limits?: { readonly perSecond: number; readonly perDay: number };
  readonly demand: () => Demand;
  /** The share of the retry time, from 0 to 1. */
  readonly retryShare: number;
  /** Pause after a transient failure in milliseconds; 0 for none. */
  readonly pauseAfterFailure: number;
  /** For connection tests: sends requests during a pause. */
  readonly ignoresPauses?: boolean;
  /** Timeout of the run in milliseconds; 15 minutes by default. */
  readonly maxTime?: number;
  /** Called when a request has not been answered for the time after which runs count as slow; not while it waits for limits. */
  readonly onSlow?: (() => void) | undefined;
  /** Part of a larger job with its own log line; this run is not logged. */
  readonly isPart?: boolean;
  /** What is fetched, for the log message, such as `list` for `list fetched`. */
  readonly what: string;
  /** Additional fields of the log line. */
  readonly line: object;
}

/** The first pause between retries, as a share of the wait: a second per minute. */
const FIRST_PAUSE = 1 / 60;
/**
 * A run that takes longer than this share of the wait counts as slow and frees its slot. The limit of slow runs is a
 * multiple of the slots.
 */
const SLOW_AFTER = 1 / 6;
const SLOW_SLOTS = 6;
const MAX_TIME = 900_000;
/** For commands. */
const MAX_COMMAND_TIME = 60_000;

/** A job for a command. */
export function jobOfCommand(provider: string, property: string, what: string): ProviderJob {
  return {
    provider,
    property,
    demand: () => 'client',
    retryShare: 0.5,
    pauseAfterFailure: 0,
    maxTime: MAX_COMMAND_TIME,
    what,
    line: {},
  };
}

/**
 * All provider requests pass through the gateway, which handles concurrency, rate limits, pauses and one log line per run.
 * It is independent of what is fetched.
 */
export class Gateway {
  /** Milliseconds after which a run counts as slow. */
  readonly slowAfter: number;
  readonly #options: GatewayOptions;
  readonly #slots: Slots;
  readonly #rate: RequestRate;
  readonly #pauses: Pauses;
  readonly #stop = new AbortController();

  constructor(options: GatewayOptions) {
    const { slots: all, slotsPerProperty: perOwner, waitTime, usage, rate } = options;
    this.#options = options;
    this.slowAfter = waitTime * SLOW_AFTER;
    this.#slots = new Slots({ all, perOwner, slowAfter: this.slowAfter, slow: all * SLOW_SLOTS });
    this.#rate = new RequestRate(usage, rate);
    this.#pauses = new Pauses(options);
  }

  /** Slots, and requests that wait for the rate limits; for metrics. */
  get state(): Slots['state'] & { readonly waitingForRate: number } {
    return { ...this.#slots.state, waitingForRate: this.#rate.waiting };
  }

  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Aborts all current and future runs. */
  stop(): void {
    const reason = new ProviderFailure('broken', 'the service is stopping');
    this.#stop.abort(reason);
    this.#slots.clear(reason);
  }

  /**
   * Runs `work` when a slot is free, and logs the `counts` of its result. Throws `ProviderFailure`, also during a pause, and
   * `NoDemand` if no caller is waiting when a slot is free.
   */
  async run<T>(job: ProviderJob, work: (run: ProviderRun) => Promise<T>, counts: (result: T) => object): Promise<T> {
    const { provider, property, limited = property, demand } = job;
    await this.#checkPause(job);
    try {
      return await this.#slots.run(property, demand, async (displaced) => {
        await this.#checkPause(job);
        return this.#logged(job, work, counts, displaced);
      });
    } catch (error) {
      if (error instanceof ProviderFailure && !this.stopped.aborted) {
        await this.#pauses.begin(error, provider, limited, job.pauseAfterFailure);
      }
      throw error;
    }
  }

  async #checkPause({ provider, property, limited = property, ignoresPauses = false }: ProviderJob): Promise<void> {
    this.stopped.throwIfAborted();
    if (!ignoresPauses) await this.#pauses.check(provider, limited);
  }

  async #logged<T>(
    job: ProviderJob,
    work: (run: ProviderRun) => Promise<T>,
    counts: (result: T) => object,
    displaced: AbortSignal,
  ): Promise<T> {
    const { log, waitTime } = this.#options;
    const { provider, property, limited = property, what, maxTime = MAX_TIME } = job;
    const started = performance.now();
    const signal = AbortSignal.any([this.stopped, displaced, AbortSignal.timeout(maxTime)]);
    const run: ProviderRun = {
      provider,
      requests: 0,
      retries: 0,
      retryUntil: started + waitTime * job.retryShare,
      firstPause: waitTime * FIRST_PAUSE,
      slowAfter: this.slowAfter,
      onSlow: job.onSlow,
      signal,
      admit: async () => {
        await this.#rate.admit(cacheKey(provider, limited), job.demand, signal, job.limits?.perSecond);
        await this.#takeOfDay(job);
        // Another run, in any process, may have started a pause.
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

  /** How many requests of a job are left on this day of the provider; infinite without a limit. */
  requestsLeft(job: ProviderJob): Promise<number> | number {
    const limit = this.#limitOfDay(job);
    return limit === undefined ? Number.POSITIVE_INFINITY : countRequestsLeft(this.#options.usage, limit);
  }

  /** Throws `ProviderFailure` if all requests of the day were sent. Without the usage database, only the provider counts. */
  async #takeOfDay(job: ProviderJob): Promise<void> {
    const limit = this.#limitOfDay(job);
    if (limit === undefined || (await takeRequestOfDay(this.#options.usage, limit))) return;
    const { perDay, day } = limit;
    throw new ProviderFailure('load-quota', `all ${perDay} requests of ${day} were sent`, { passing: false });
  }

  #limitOfDay({ provider, property, limited = property, limits }: ProviderJob): DayLimit | undefined {
    if (limits === undefined) return undefined;
    const { now, pacingOf } = this.#options;
    return { owner: cacheKey(provider, limited), day: pacingOf(provider).dayOf(now()), perDay: limits.perDay };
  }

  #meaningOf(error: unknown, signal: AbortSignal, maxTime: number): unknown {
    if (!signal.aborted) return error;
    if (this.stopped.aborted) return this.stopped.reason;
    return signal.reason instanceof Displaced
      ? new ProviderFailure('broken', 'the provider did not answer in time, and others were waiting')
      : new ProviderFailure('broken', `the fetch took longer than ${maxTime / 1000} s`);
  }
}
