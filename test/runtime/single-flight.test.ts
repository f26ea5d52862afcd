// Concurrent equal work runs once, and its remaining parts are stopped when it fails.
import t from 'tap';
import { SingleFlight } from '../../server/runtime/promises.ts';

const { signal } = new AbortController();

t.test('work that fails is aborted, and that which succeeds is not', async (t) => {
  const flights = new SingleFlight<number>();
  const signals: AbortSignal[] = [];
  const run = (work: () => Promise<number>) =>
    flights.run('key', signal, (tx) => {
      signals.push(tx);
      return work();
    });
  const failure = new Error('one of several parts');
  const callers = [run(() => Promise.reject(failure)), run(async () => 1)];
  t.match(await Promise.allSettled(callers), [{ reason: failure }, { reason: failure }], 'both wait for the same work');
  t.match(signals, [{ aborted: true, reason: failure }], 'its other parts stop');
  t.equal(await run(async () => 2), 2);
  t.match(signals, [{}, { aborted: false }]);
});
