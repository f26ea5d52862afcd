// Work that can wait starts when nobody asks a server, or after two seconds.
import { Server } from 'node:http';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { whenQuiet } from '../../server/runtime/when-quiet.ts';

/** A server that is asked every so many milliseconds; returns when the work started. */
function startedAt(t: Test, every: number, { cancelledAt }: { cancelledAt?: number } = {}): number | null {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const server = new Server();
  let now = 0;
  let started: number | null = null;
  const cancel = whenQuiet(server, () => {
    t.equal(started, null, 'once');
    started = now;
  });
  for (; now < 5000; now += 10) {
    if (now % every === 0) server.emit('request');
    if (now === cancelledAt) cancel();
    mock.timers.tick(10);
  }
  t.equal(server.listenerCount('request'), 0);
  mock.timers.reset();
  return started;
}

t.test('work waits for a quarter of a second without a request, and at most for two seconds', async (t) => {
  t.equal(startedAt(t, 10_000), 240);
  t.equal(startedAt(t, 300), 240, 'requests that are far enough from each other do not matter');
  t.equal(startedAt(t, 200), 1990);
});

t.test('cancelled work does not start', async (t) => {
  t.equal(startedAt(t, 200, { cancelledAt: 1000 }), null);
  t.equal(startedAt(t, 200, { cancelledAt: 3000 }), 1990, 'too late');
});
