// The soak fails for any wrong answer and for every limit that it watches.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { type Found, limitsOf, type Sample, trend } from '../../lab/soak/limits.ts';
import { atNight } from '../night.ts';
import { ONE_THREAD, temporaryFolder } from '../world.ts';

const soak = join(import.meta.dirname, '../../lab/soak/soak.ts');
const TINY = ['--minutes', '0', '--rows', '12'];
const run = (folder: string, ...words: string[]) =>
  promisify(execFile)(process.execPath, [soak, ...TINY, '--folder', folder, ...words], {
    env: { ...process.env, ...ONE_THREAD, ORDINATE_JOBS: 'off' },
  });

t.test('every answer is checked beside a load, a backup and the rotation of a key', atNight, async (t) => {
  const { stdout } = await run(temporaryFolder(t), '--works', 'load,backup,rotate');
  const rows = stdout.split('\n').map((line) => line.split(/ {2,}/));
  const kinds = 'site lists portfolio dashboard aborted statuses';
  for (const kind of [...kinds.split(' '), 'load', 'backup', 'rotate']) {
    const [, right, , unexpected] = rows.find(([name]) => name === kind)!;
    t.ok(Number(right) > 0 && unexpected === '0', kind);
  }
});

t.test('one wrong number makes it fail, with the seed and the answer', atNight, async (t) => {
  const failed = run(temporaryFolder(t), '--works', 'verify', '--plant', '--seed', '7');
  await t.rejects(failed, { code: 1, stdout: /unexpected answers .* no\n[\s\S]*seed 7\n[\s\S]*, not state 0: / });
});

/** Half an hour of samples, every six seconds. */
const samples = (megabytes: (minute: number) => number, descriptors: (minute: number) => number = () => 50): Sample[] =>
  Array.from({ length: 300 }, (_, index) => ({
    at: index / 10,
    memory: megabytes(index / 10) + (index % 2 === 0 ? 8 : -8),
    descriptors: descriptors(index / 10),
  }));

t.test('each limit can be missed', (t) => {
  const good: Found = {
    ...{ minutes: 30, unexpected: 0, never: [], leftovers: [], errors: [], failed: [] },
    samples: samples(() => 300),
  };
  const missed = (more: Partial<Found>): string[] =>
    limitsOf({ ...good, ...more }).flatMap(({ what, met }) => (met === false ? [what] : []));
  t.strictSame(missed({}), []);
  for (const [what, more] of [
    ['unexpected answers and failed works', { unexpected: 1 }],
    ['kinds without a right answer', { never: ['site'] }],
    ['errors in the log of the server', { errors: ['{"level":50}'] }],
    ['files and locks left', { leftovers: ['planned-files'] }],
    ['commands that fail in the end', { failed: ['verify'] }],
    ['memory of the server after the warm-up', { samples: samples((minute) => 300 + 1.1 * minute) }],
    [
      'descriptors of the server after the warm-up',
      {
        samples: samples(
          () => 300,
          (minute) => 50 + minute,
        ),
      },
    ],
  ] as const)
    t.strictSame(missed(more), [what]);
  t.strictSame(missed({ minutes: 1, samples: samples((minute) => 40 * minute) }), [], 'a minute says nothing');
  t.end();
});

t.test('the trend is that after the warm-up', (t) => {
  const slope = (megabytes: (minute: number) => number): string =>
    String(Math.round(trend(samples(megabytes), 'memory').slope) + 0);
  t.equal(
    slope((minute) => 300 + Math.min(minute, 9) * 30),
    '0',
    'caches that fill at the beginning do not count',
  );
  t.equal(
    slope((minute) => 300 + 2 * minute),
    '2',
    'a leak of 2 MB a minute',
  );
  t.end();
});
