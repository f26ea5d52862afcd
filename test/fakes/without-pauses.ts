import type { Test } from 'tap';
import { Gateway, type ProviderJob } from '../../server/providers/gateway.ts';
import type { ProviderRun } from '../../server/providers/retries.ts';
import { methodOf } from '../methods.ts';

/**
 * Requests to providers that fail are tried again at once, as often as always, until the test ends. Another one is about the
 * pauses (test/lists/failures.test.ts).
 */
export function withoutPauses(t: Test): void {
  const run = methodOf(Gateway.prototype, 'run');
  Gateway.prototype.run = function atOnce<T>(
    this: Gateway,
    job: ProviderJob,
    work: (run: ProviderRun) => Promise<T>,
    counts: (result: T) => object,
  ): Promise<T> {
    const worked = (one: ProviderRun): Promise<T> => work(Object.assign(one, { firstPause: 0 }));
    return run.call(this, job, worked, counts as (result: unknown) => object) as Promise<T>;
  };
  t.teardown(() => {
    Gateway.prototype.run = run;
  });
}
