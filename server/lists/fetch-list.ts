import type { FastifyBaseLogger } from 'fastify';
import { ProviderFailure } from '../providers/failures.ts';
import type { Gateway, ProviderJob } from '../providers/gateway.ts';
import type { ListQuery } from '../providers/provider.ts';
import { type Demand, NoDemand, Slots } from '../providers/slots.ts';
import { measure, secondsSince } from '../runtime/measurements.ts';
import type { Fetched, Source } from './source.ts';

export type FetchedList = Fetched & {
  readonly source: Source['kind'];
  /** A preferred source failed and may provide a better list later. */
  readonly isFallback: boolean;
};

type Query = Omit<ListQuery, 'allowMissingRecentDays'>;

/** Pause after a failure of the warehouse, during which lists use the reporting API. In milliseconds. */
const WAREHOUSE_PAUSE = 120_000;
/** The share of the retry time that a warehouse gets if another source is available. */
const WAREHOUSE_SHARE = 0.25;
/** Concurrent computations of lists from stored facts; the other threads are for short queries. */
const MAX_COMPUTED = 1;
/** The maximum timer delay, in milliseconds. */
const NEVER = 2 ** 31 - 1;

/** Fetches lists from providers, through the gateway, and from stored facts, one at a time. */
export class ListFetcher {
  readonly #gateway: Gateway;
  readonly #log: Pick<FastifyBaseLogger, 'info'>;
  readonly #computing = new Slots({ all: MAX_COMPUTED, perOwner: MAX_COMPUTED, slowAfter: NEVER, slow: 0 });

  constructor(gateway: Gateway, log: Pick<FastifyBaseLogger, 'info'>) {
    this.#gateway = gateway;
    this.#log = log;
    gateway.stopped.addEventListener('abort', () => this.#computing.clear(gateway.stopped.reason as Error));
  }

  /** Fetches a list from the first source that succeeds. Throws the failure of the last one. */
  async fetch(query: Query, sources: readonly Source[], demand: () => Demand): Promise<FetchedList> {
    let isFallback = false;
    for (const [index, source] of sources.entries()) {
      const isLast = index === sources.length - 1;
      const started = performance.now();
      const ended = (outcome: string): void =>
        measure('listFetch', () => ({ source: source.provider ?? 'facts', outcome, seconds: secondsSince(started) }));
      try {
        const fetched = await this.#from(source, { ...query, allowMissingRecentDays: isLast }, demand);
        ended('ok');
        return { ...fetched, source: source.kind, isFallback };
      } catch (error) {
        ended(error instanceof ProviderFailure ? error.kind : error instanceof NoDemand ? 'abandoned' : 'failed');
        if (isLast || !(error instanceof ProviderFailure) || this.#gateway.stopped.aborted) throw error;
        if (error.kind !== 'not-covered') isFallback = true;
      }
    }
    throw new Error('a fetch needs a source');
  }

  async #from(source: Source, query: ListQuery, demand: () => Demand): Promise<Fetched> {
    const { kind: list, property, range, country, type, pair, allowMissingRecentDays: isLast } = query;
    const named = type === 'web' ? {} : { type };
    const line = { list, ...range, country, ...named, ...(pair === null ? {} : { part: true }) };
    if (source.provider === null) {
      return this.#computing.run(property, demand, async () => {
        this.#gateway.stopped.throwIfAborted();
        const started = performance.now();
        const fetched = await source.fetch(query);
        const ms = Math.round(performance.now() - started);
        const cost = { source: 'facts', requests: 0, retries: 0, ms };
        this.#log.info({ property, ...line, ...cost, ...countsOf(fetched), outcome: 'fetched' }, 'list fetched');
        return fetched;
      });
    }
    const job: ProviderJob = {
      provider: source.provider,
      property,
      limited: await source.limited(),
      demand,
      retryShare: isLast ? 1 : WAREHOUSE_SHARE,
      pauseAfterFailure: isLast ? 0 : WAREHOUSE_PAUSE,
      what: 'list',
      line,
    };
    return this.#gateway.run(job, (run) => source.fetch(query, run), countsOf);
  }
}

function countsOf({ rows, truncated }: Fetched): object {
  return { rows, truncated };
}
