// Work that can wait starts when nobody asks a server, or after two seconds.
import { EventEmitter } from 'node:events';
import { Server } from 'node:http';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { whenQuiet } from '../../server/runtime/when-quiet.ts';

/** A server that is asked every so many milliseconds, and answers after so many; returns when the work started. */
function startedAt(
  t: Test,
  every: number,
  { takes = 10, cancelledAt }: { takes?: number; cancelledAt?: number } = {},
): number | null {
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
    if (now % every === 0) {
      const response = new EventEmitter();
      server.emit('request', {}, response);
      setTimeout(() => response.emit('close'), takes);
    }
    if (now === cancelledAt) cancel();
    mock.timers.tick(10);
  }
  t.equal(server.listenerCount('request'), 0);
  mock.timers.reset();
  return started;
}

t.test('work waits for a quarter of a second without a request, and at most for two seconds', async (t) => {
  t.equal(startedAt(t, 10_000), 250);
  t.equal(startedAt(t, 300), 250, 'requests that are far enough from each other do not matter');
  t.equal(startedAt(t, 200), 1990);
  t.equal(startedAt(t, 10_000, { takes: 1000 }), 1240, 'while one waits for an answer, it is not quiet');
  t.equal(startedAt(t, 10_000, { takes: 10_000 }), 1990);
});

t.test('cancelled work does not start', async (t) => {
  t.equal(startedAt(t, 200, { cancelledAt: 1000 }), null);
  t.equal(startedAt(t, 200, { cancelledAt: 3000 }), 1990, 'too late');
});
