// The benchmark measures and records everything it lists, and rejects unknown names.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { ONE_THREAD, temporaryFolder } from '../world.ts';

const run = promisify(execFile);
const bench = join(import.meta.dirname, '../../lab/bench/bench.ts');
/** Each server would have a process of jobs, which nothing measures. */
const WITHOUT_JOBS = { ORDINATE_JOBS: 'off' };
const TINY = ['--quick', '--rounds', '1', '--seconds', '1', '--keywords', '30', '--days', '40'];

interface Document {
  readonly machine: object;
  readonly options: object;
  readonly lines: readonly { name: string; median: number; p95: number; samples: number; baselines: object }[];
  readonly targets: readonly { name: string; value: number | null; bound: object; met: boolean | null }[];
}

t.test('the benchmark measures everything, prints it and writes it', async (t) => {
  const folder = temporaryFolder(t);
  const json = join(folder, 'results.json');
  const words = [bench, ...TINY, '--folder', join(folder, 'bench'), '--json', json];
  const { stdout } = await run(process.execPath, words, { env: { ...process.env, ...ONE_THREAD, ...WITHOUT_JOBS } });
  const { machine, options, lines, targets } = JSON.parse(readFileSync(json, 'utf8')) as Document;

  t.match(machine, { processors: Number, node: process.version });
  t.match(options, { keywords: 30, days: 40, rounds: 1 });
  for (const { name, median, samples } of lines) {
    t.ok(stdout.includes(`| ${name} `), `the table has ${name}`);
    t.ok(median > 0 && samples > 0, `${name} was timed`);
  }
  t.strictSame(
    lines.map(({ baselines }) => Object.keys(baselines).join(' ')).slice(0, 6),
    [
      'duckdb duckdb rows floor of 28 days stringify bare',
      'duckdb',
      '',
      'duckdb duckdb rows stringify bare',
      'duckdb duckdb rows stringify bare',
      'bare requests/s',
    ],
    'each answer has its baselines',
  );
  for (const { name, bound } of targets) t.ok(stdout.includes(`| ${name} `), `${name}: ${JSON.stringify(bound)}`);
  t.strictSame(
    // Memory is read where the system has /proc, whose ticks are too long for the processor time of a few requests.
    targets.filter(({ name, value }) => value === null && !/memory|processor time/.test(name)).map(({ name }) => name),
    ['totals: against PostgreSQL', 'totals: against ClickHouse'],
    'all requested measurements have a value',
  );
});

t.test('an unknown measurement is rejected by name', async (t) => {
  const refused = run(process.execPath, [bench, '--only', 'totals,speed']);
  await t.rejects(refused, { code: 1, stderr: /Unknown: speed/ });
});
