// A production checkout can be built, pruned and used as the guide says, also with an old Node on the machine.
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import t from 'tap';
import { guideBlock } from '../docs/blocks.ts';
import { ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';
import { answers, HOST_PATH, installMissing, run, startServer, trackedFiles } from './programs.ts';

// Packages are installed, which takes as long as it takes.
t.setTimeout(1_800_000);

t.test('a checkout without the tools for development', async (t) => {
  const steps = ['npm ci', 'npm run build', 'npm prune --omit=dev', 'bin/ordinate serve --demo'];
  t.equal(guideBlock('operate', 'production'), `${steps.join('\n')}\n`, 'what the guide says is what is done here');
  const folder = temporaryFolder(t);
  for (const path of trackedFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
  // With the Node of the machine, which may be an old one.
  const settings = { PATH: HOST_PATH.join(delimiter) };
  const installed = await run(folder, settings, 'npm', 'ci', '--omit=dev', '--prefer-offline');
  t.equal(installed.code, 0, installed.stderr);
  t.notMatch(installed.stderr, /EBADENGINE|install-scripts/, 'no warnings of a Node that runs nothing but npm');
  t.notOk(readdirSync(join(folder, 'node_modules')).includes('typescript'));
  t.equal(globSync('node_modules/**/libduckdb*', { cwd: folder }).length, 1, 'DuckDB once');
  const unbuilt = await run(folder, settings, 'npm', 'start', '--silent');
  t.match(
    unbuilt,
    { code: 1, stderr: `  ${steps.slice(0, -1).join('\n  ')}\n  bin/ordinate serve\n` },
    'it is not built',
  );
  t.notOk(readdirSync(join(folder, 'data')).includes('catalog.sqlite'), 'nothing was made');
  for (const step of steps.slice(0, -1)) {
    const { code, stderr } = await run(folder, settings, 'sh', '-c', `${step} --prefer-offline`);
    t.equal(code, 0, `${step} ${stderr}`);
  }
  t.notOk(readdirSync(join(folder, 'node_modules')).includes('typescript'), 'pruned');
  const server = await startServer(t, folder, settings, 'bin/ordinate', 'serve', '--demo');
  await answers(t, server);
  const stored = { ...settings, ORDINATE_STORAGE: 's3://bucket' };
  await installMissing(t, folder, { needs: 'ORDINATE_STORAGE', settings: stored }, 'bin/ordinate', 'serve');
  t.ok(existsSync(join(folder, 'node_modules/@aws-sdk/lib-storage')));
});
