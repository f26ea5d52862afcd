// A job is due after its interval, and after a failure only when its growing pause ends.
import fc from 'fast-check';
import t from 'tap';
import type { JobState } from '../../server/jobs/job-states.ts';
import {
  backOff,
  dueAt,
  nextAfterFailure,
  nextAfterInterruption,
  nextAfterSuccess,
} from '../../server/jobs/schedule.ts';

const chance = fc.double({ min: 0, max: 0.999, noNaN: true });
const timing = fc.record({ every: fc.integer({ min: 60_000, max: 86_400_000 }), jitter: chance });
const instant = fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 });

t.test('a pause doubles with each failure, up to the longest', (t) => {
  const pauses = [1, 2, 3, 4, 5, 100].map((failures) => backOff(failures, { first: 500, max: 6000 }, () => 0));
  t.strictSame(pauses, [500, 1000, 2000, 4000, 6000, 6000]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), chance, (failures, random) => {
      const pause = backOff(failures, { first: 500, max: 6000 }, () => random);
      return pause >= 375 && pause <= 6000;
    }),
  );
  t.end();
});

t.test('the next run comes after its interval and no later than jitter says; failures never wait for longer', (t) => {
  fc.assert(
    fc.property(timing, instant, fc.integer({ min: 0, max: 90_000_000 }), chance, (job, startedAt, took, random) => {
      const endedAt = startedAt + took;
      const next = nextAfterSuccess(job, startedAt, endedAt, () => random);
      const latest = Math.max(startedAt + job.every * (1 + job.jitter), endedAt + 1000);
      const afterFailures = [1, 2, 50].map((failures) => nextAfterFailure(job, endedAt, failures, () => random));
      return (
        next > endedAt &&
        next >= startedAt + job.every &&
        next <= latest &&
        afterFailures.every((again) => again > endedAt && again <= endedAt + job.every)
      );
    }),
  );
  t.end();
});

t.test('a run that was interrupted is taken over at once, and not again and again', (t) => {
  const job = { every: 3_600_000, jitter: 0 };
  const pauses = [1, 2, 3].map((failures) => nextAfterInterruption(job, 1000, failures, () => 0) - 1000);
  t.strictSame(pauses, [0, 30_000, 60_000]);
  t.end();
});

t.test('what is due', (t) => {
  const state: JobState = {
    job: 'a',
    startedAt: 1000,
    endedAt: 1500,
    outcome: 'succeeded',
    failures: 0,
    error: null,
    result: null,
    progress: null,
    nextAt: 5000,
  };
  t.equal(dueAt(undefined, 2000), 0, 'what has never run');
  t.equal(dueAt(state, 2000), 5000);
  t.equal(dueAt({ ...state, endedAt: null }, 2000), 0, 'what another process may have left');
  t.equal(dueAt({ ...state, startedAt: 62_000, nextAt: 66_000 }, 2000), 66_000, 'the clock of another node differs');
  t.equal(dueAt({ ...state, startedAt: 62_001, nextAt: 66_000 }, 2000), 0, 'all, when the clock was set back');
  t.end();
});
