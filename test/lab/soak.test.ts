// The soak test fails for any wrong answer and for every limit that it watches.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { type Found, limitsOf } from '../../lab/bench/soak/limits.ts';
import { type Sample, trend } from '../../lab/bench/soak/watch.ts';
import { ONE_THREAD, temporaryFolder } from '../world.ts';

const run = promisify(execFile);
const soak = join(import.meta.dirname, '../../lab/bench/soak/soak.ts');
const TINY = ['--minutes', '0', '--clients', '2', '--pause', '10', '--keywords', '12', '--days', '60'];

interface Document {
  readonly limits: readonly { what: string; met: boolean | null }[];
  readonly counts: readonly { kind: string; right: number; unexpected: number }[];
  readonly works: readonly { kind: string; right: number }[];
  readonly first: readonly string[];
}

t.test('every answer is checked beside a load, a backup and the rotation of a key', async (t) => {
  const words = [soak, ...TINY, '--works', 'load,backup,rotate', '--folder', temporaryFolder(t), '--json'];
  const { stdout } = await run(process.execPath, words, { env: { ...process.env, ...ONE_THREAD } });
  const { limits, counts, works, first } = JSON.parse(stdout) as Document;
  t.strictSame(first, []);
  t.strictSame(
    limits.filter(({ met }) => met === false),
    [],
  );
  t.equal(limits.length, 8);
  for (const { kind, right } of [...counts, ...works]) t.ok(right > 0, kind);
  t.strictSame(
    works.map(({ kind }) => kind),
    ['load', 'backup', 'rotate'],
  );
  t.equal(counts.length, 17, 'all kinds but that of the synced project');
});

t.test('one wrong number makes it fail, with the seed and the answer', async (t) => {
  const words = [soak, ...TINY, '--works', 'audit', '--plant', '--seed', '7', '--folder', temporaryFolder(t)];
  const failed = run(process.execPath, words, { env: { ...process.env, ...ONE_THREAD, ORDINATE_JOBS: 'off' } });
  await t.rejects(failed, { code: 1, stdout: /unexpected answers .* no\n[\s\S]*seed 7\n[\s\S]*: state 0: / });
});

const GOOD: Found = {
  minutes: 30,
  right: 1000,
  unexpected: 0,
  never: [],
  memory: { slope: 0.3, first: 300, last: 305, peak: 340 },
  descriptors: { slope: 0, first: 50, last: 52, peak: 60 },
  leftovers: [],
  errors: [],
  verified: true,
  backupsVerified: true,
};

t.test('each limit can be missed', (t) => {
  const missed = (more: Partial<Found>): string[] =>
    limitsOf({ ...GOOD, ...more }).flatMap(({ what, met }) => (met === false ? [what] : []));
  t.strictSame(missed({}), []);
  const bad: readonly Partial<Found>[] = [
    { unexpected: 1 },
    { never: ['site'] },
    { errors: ['{"level":50}'] },
    { memory: { ...GOOD.memory, slope: 1 } },
    { descriptors: { ...GOOD.descriptors, last: 61 } },
    { leftovers: ['staging/planned-files'] },
    { verified: false },
    { backupsVerified: false },
  ];
  t.strictSame(
    bad.map((more) => missed(more).length),
    bad.map(() => 1),
  );
  t.equal(new Set(bad.flatMap(missed)).size, bad.length);
  t.strictSame(missed({ minutes: 1, memory: { ...GOOD.memory, slope: 40 } }), [], 'a minute says nothing about a leak');
  t.end();
});

t.test('the trend of memory is that after the warm-up', (t) => {
  const samples = (megabytes: (minute: number) => number): Sample[] =>
    Array.from({ length: 300 }, (_, index) => {
      const noise = index % 2 === 0 ? 8 : -8;
      return { at: index / 10, server: megabytes(index / 10) + noise, jobs: 0, descriptors: 50 };
    });
  const steady = trend(
    samples((minute) => 300 + Math.min(minute, 9) * 30),
    'server',
  );
  t.ok(Math.abs(steady.slope) < 0.1, 'caches that fill at the beginning do not count');
  const leak = trend(
    samples((minute) => 300 + 2 * minute),
    'server',
  );
  t.ok(Math.abs(leak.slope - 2) < 0.1, 'a leak of 2 MB a minute');
  t.end();
});
