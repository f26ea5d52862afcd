import { ProviderFailure } from './failures.ts';
import type { Gateway, Job } from './gateway.ts';
import type { Demand } from './places.ts';
import type { Fetched, ListQuery, Source } from './source.ts';

export type FetchedList = Fetched & {
  readonly source: Source['kind'];
  /** A better source failed and may give a better list later. */
  readonly isFallback: boolean;
};

/** A warehouse that did not answer is not waited for again by each list, while the reporting API answers. */
const WAREHOUSE_PAUSE = 120_000;
/** With another source at hand, a warehouse gets this part of the time for retries. */
const WAREHOUSE_SHARE = 0.25;

/** Fetches a list from the first source that gives it. Throws the failure of the last one. */
export async function fetchList(
  gateway: Gateway,
  query: Omit<ListQuery, 'allowMissingRecentDays'>,
  sources: readonly Source[],
  demand: () => Demand,
): Promise<FetchedList> {
  const { kind: list, property, range, country } = query;
  let isFallback = false;
  for (const [index, source] of sources.entries()) {
    const isLast = index === sources.length - 1;
    const job: Job = {
      provider: source.name,
      property,
      demand,
      retryShare: isLast ? 1 : WAREHOUSE_SHARE,
      pauseAfterFailure: isLast ? 0 : WAREHOUSE_PAUSE,
      line: { list, ...range, country },
    };
    try {
      const fetched = await gateway.run(
        job,
        (attempts) => source.fetch({ ...query, allowMissingRecentDays: isLast }, attempts),
        ({ rows, truncated }) => ({ rows, truncated }),
      );
      return { ...fetched, source: source.kind, isFallback };
    } catch (error) {
      if (isLast || !(error instanceof ProviderFailure) || gateway.stopped.aborted) throw error;
      if (error.kind !== 'not-covered') isFallback = true;
    }
  }
  throw new Error('a fetch needs a source');
}
