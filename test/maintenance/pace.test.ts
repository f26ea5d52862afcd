// Verifications and copies say how many files they take a second, and what a large installation would take.
import t from 'tap';
import { paceOf, withPace } from '../../server/maintenance/pace.ts';

t.test('the pace of files', async (t) => {
  t.equal(paceOf(4100, 10), '410 files a second; 10 million files would take 6.8 hours');
  t.equal(paceOf(100, 200), '0.5 files a second; 10 million files would take 5,600 hours');
  t.equal(paceOf(99, 10), '');
  t.equal(paceOf(100, 0), '');
  t.equal(withPace('comparing files: 0 of 9', 0, performance.now()), 'comparing files: 0 of 9');
  t.match(
    withPace('comparing files: 500 of 900', 500, performance.now() - 1000),
    /^comparing files: 500 of 900, [\d.]+ files/,
  );
});
