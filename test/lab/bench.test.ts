// The benchmark measures everything that has a bound, also against a release before, and rejects unknown names.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { atNight } from '../night.ts';
import { ONE_THREAD, temporaryFolder } from '../world.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const bench = join(ROOT, 'lab/bench/bench.ts');

t.test('each bound is in the table, with its ratio', atNight, async (t) => {
  const tiny = ['--quick', '--rounds', '1', '--keywords', '30', '--days', '40', '--folder', temporaryFolder(t)];
  const env = { ...process.env, ...ONE_THREAD };
  const { stdout } = await run(process.execPath, [bench, ...tiny, '--before', ROOT], { env });
  const cells = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  t.strictSame(cells[0], ['WHAT', 'MS', 'AGAINST', 'RATIO', 'AT MOST', 'MET']);
  t.ok(
    cells.slice(1).every(([, ms, , ratio, , met]) => Number(ms) > 0 && Number(ratio) > 0 && /yes|no/.test(met!)),
    'everything was measured',
  );
  t.strictSame(
    cells.slice(1).map(([what, , against, , atMost]) => [what, against, atMost].join(' | ')),
    [
      '30 keywords, 40 days | a scan by DuckDB | 0.35',
      '30 keywords, 40 days | the floor | 1.6',
      '30 keywords, 40 days | all days before | 1.3',
      '30 keywords, 28 days | all days | 1.2',
      '30 keywords, 28 days | 28 days before | 1.1',
      'days of the property, 40 | all days before | 1.1',
      'days of the property, 28 | 28 days before | 1.1',
      ...[
        ['the property, 28 days', '1.1'],
        ['the property, 40 days', '1.1'],
        ['keywords, 28 days', '1.1'],
        ['the keywords with most clicks, 40 days', '1.3'],
        ['all keywords, 40 days', '1.3'],
        ['queries', '1.3'],
        ['pages', '1.3'],
      ].flatMap(([name, bound]) => [
        `question: ${name} | report | 1.2`,
        `question: ${name} | question before | ${bound}`,
        `report: ${name} | report before | ${bound}`,
      ]),
      'load of shuffled rows | a sorted copy by DuckDB | 3',
      'load of shuffled rows | load before | 1.1',
    ],
  );
});

t.test('an unknown measurement is rejected by name', atNight, async (t) => {
  const refused = run(process.execPath, [bench, '--only', 'totals,speed']);
  await t.rejects(refused, { code: 1, stderr: /Unknown: speed/ });
});
