// Every test runs for each change or at night.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from './files.ts';

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const [change, night] = [textOf('.ci/run'), textOf('.ci/nightly')];

t.test('each runner is a step of .ci/run or .ci/nightly, and what a change runs in part is whole at night', (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const stepOf = (name: string): string => (name === 'test:cluster' ? '.ci/cluster' : `npm run ${name}`);
  const runners = Object.keys(scripts).filter((name) => name.startsWith('test:'));
  t.strictSame(
    runners.filter((name) => !`${change}${night}`.includes(`step ${stepOf(name)}\n`)),
    [],
  );
  for (const name of ['test:browser -- --whole', 'test:package -- --whole', 'test:night'])
    t.ok(night.includes(`step npm run ${name}\n`), name);
  t.ok(night.includes('step .ci/cluster --whole\n'));
  t.end();
});

t.test('each file with tests of the browser or the package is a part of its runner', (t) => {
  for (const [folder, runner] of [
    ['test/browser', 'dashboard.ts'],
    ['test/package', 'package.ts'],
  ] as const) {
    const isTest = (file: string): boolean =>
      !file.includes('.test.') && /^(t\.test|(if \(isWhole\) )?await check)\(/m.test(textOf(join(folder, file)));
    const files = globSync('*.ts', { cwd: join(ROOT, folder) }).filter(isTest);
    const listed = [...textOf(join(folder, runner)).matchAll(/import(?:\(| )'\.\/(\S+\.ts)'/g)].map(
      ([, file]) => file!,
    );
    t.strictSame(files.filter((file) => !listed.includes(file) && file !== 'clients.ts').sort(), []);
  }
  t.end();
});
