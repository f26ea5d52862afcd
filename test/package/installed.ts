// Packs the package, installs it and a production checkout as a user would, and uses both. It needs npm's registry or
// its cache, and half a minute: `npm run test:package` runs it, `npm test` does not.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { block, ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';
import { answers, HOST_PATH, PINNED_PATH, run, type Started, startServer, trackedFiles } from './programs.ts';

// It runs without tap's command and its limit: packages are installed, which takes as long as it takes.
t.setTimeout(1_800_000);

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

const PROGRAM = `
import { createClient, OrdinateError, type Schemas } from 'ordinate/client';

const [url = '', key = ''] = process.argv.slice(2);
const ordinate = createClient({ url, key });
const { projects } = await ordinate.listProjects();
const id = projects[0]!.id;
const totals: Schemas['Metrics'] = (await ordinate.getSite({ id, period: '3m' })).totals;
let queries = 0;
for await (const row of ordinate.all.listQueries({ id, limit: 1000 })) queries += row.clicks >= 0 ? 1 : 0;
const refused = await ordinate.getSite({ id, period: '17m' }).catch((error: unknown) => error);
console.log(projects.length, totals.clicks > 0, queries > 100, refused instanceof OrdinateError && refused.code);
`;

/** A program that imports the client of the installed package: the compiler takes it, and it gets answers. */
async function useClient(t: Test, installed: string, { address, key }: Started): Promise<void> {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(installed, join(folder, 'node_modules/ordinate'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
  const compiled = await run(folder, {}, join(ROOT, 'node_modules/.bin/tsc'), ...options, ...types, 'program.ts');
  t.equal(compiled.code, 0, `the compiler takes it ${compiled.stdout}`);
  const ran = await run(folder, { PATH: PINNED_PATH }, 'node', 'program.ts', address, key);
  t.match(ran, { code: 0, stdout: '2 true true invalid_request\n' }, 'it gets answers and errors');
}

t.test('npm pack, npm install --global, ordinate serve --demo', async (t) => {
  t.equal(
    block('package'),
    `npm ci\nnpm pack\nnpm install --global ./ordinate-${version}.tgz\nordinate serve --demo\n`,
    'what the README says is what is done here',
  );
  const folder = temporaryFolder(t);
  const prefix = join(folder, 'prefix');
  const packed = await run(ROOT, { PATH: PINNED_PATH }, 'npm', 'pack', '--silent', '--pack-destination', folder);
  t.equal(packed.code, 0, packed.stderr);
  const tarball = join(folder, `ordinate-${version}.tgz`);

  const files = execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const sql = globSync('sql/**/*.sql', { cwd: ROOT }).filter((path) => !path.startsWith('sql/bench/'));
  const wanted = ['LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'dist/server/api/routes/examples.json'];
  for (const path of [...wanted, ...sql.map((path) => `dist/${path}`)]) {
    if (!files.includes(`package/${path}`)) t.fail(`${path} is not in the package`);
  }
  t.strictSame(
    files.filter(
      (path) =>
        /\.ts$|^package\/(test|scripts|server|client|data|node_modules)\/|bench/.test(path) &&
        !/^package\/dist\/client\/\w+\.d\.ts$/.test(path),
    ),
    [],
    'no TypeScript but the types of the client, no tests or benchmarks',
  );

  const installed = await run(
    folder,
    { PATH: PINNED_PATH },
    'npm',
    ...['install', '--global', '--prefix', prefix, '--prefer-offline', tarball],
  );
  t.equal(installed.code, 0, installed.stderr);
  t.notMatch(installed.stderr, 'EBADENGINE');

  const ordinate = join(prefix, 'bin', 'ordinate');
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  t.match(await run(empty, { PATH: PINNED_PATH }, ordinate, '--version'), { code: 0, stdout: `${version}\n` });
  t.strictSame(readdirSync(empty), [], 'a question about the version makes nothing');

  const server = await startServer(t, empty, { PATH: PINNED_PATH }, ordinate, 'serve', '--demo');
  await answers(t, server);
  t.strictSame(readdirSync(empty), ['data'], 'the data folder is in the current one');
  t.match(await run(empty, { PATH: PINNED_PATH }, ordinate, 'projects', 'list'), { code: 0, stdout: /Fw7kd/ });
  await useClient(t, join(prefix, 'lib/node_modules/ordinate'), server);
  const ended = once(server.child, 'exit');
  server.child.kill('SIGTERM');
  t.strictSame(await ended, [0, null], 'a signal reaches the server itself');

  // An old Node first on the PATH.
  const old = join(folder, 'old');
  mkdirSync(old);
  writeFileSync(join(old, 'node'), '#!/bin/sh\necho v20.20.2\n');
  chmodSync(join(old, 'node'), 0o755);
  const path = [old, ...HOST_PATH].join(delimiter);
  t.match(await run(empty, { PATH: path }, ordinate, '--version'), { code: 0, stdout: `${version}\n` }, 'its own Node');
  rmSync(join(prefix, 'lib/node_modules/ordinate/node_modules/.bin/node'));
  t.match(await run(empty, { PATH: path }, ordinate, '--version'), {
    code: 1,
    stdout: '',
    stderr: 'Ordinate needs Node 26 or later; the version on the PATH: v20.20.2.\n',
  });
  const own = await run(empty, { PATH: PINNED_PATH }, ordinate, '--version');
  t.match(own, { code: 0, stdout: `${version}\n` }, "the user's Node, where none came with the package");
});

t.test('npm ci --omit=dev, npm start', async (t) => {
  t.equal(block('production'), 'npm ci --omit=dev\nnpm start\n', 'what the README says is what is done here');
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
  const server = await startServer(t, folder, settings, 'npm', 'start');
  await answers(t, server);
});
