// The packed package can be installed and used without the tools of development.
// It needs npm's registry or its cache, and half a minute: `npm run test:package` runs it, `npm test` does not.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { guideBlock } from '../docs/blocks.ts';
import { until } from '../process.ts';
import { ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';
import {
  answers,
  HOST_PATH,
  installMissing,
  OPTIONAL,
  PINNED_PATH,
  run,
  type Started,
  startServer,
} from './programs.ts';

// It runs without tap's command and its limit: packages are installed, which takes as long as it takes.
t.setTimeout(1_800_000);

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** Of an installed package with its dependencies, the Node that comes with it included, on Linux. */
const MAX_MEGABYTES = 360;

/** Packages of which the build makes a part of this one. */
const BUNDLED = ['preact', 'uplot', '@modelcontextprotocol/server', '@scalar/fastify-api-reference'];

const PROGRAM = `
import { createClient, OrdinateError, type Schemas } from 'ordinate-client';

const [url = '', key = ''] = process.argv.slice(2);
const ordinate = createClient({ url, key });
const { projects } = await ordinate.listProjects();
const id = projects[0]!.id;
const totals: Schemas['TotalMetrics'] = (await ordinate.getSite({ id, period: '3m' })).totals;
let queries = 0;
for await (const row of ordinate.all.listQueries({ id, limit: 1000 })) queries += row.clicks >= 0 ? 1 : 0;
const refused = await ordinate.getSite({ id, period: '17m' }).catch((error: unknown) => error);
console.log(projects.length, totals.clicks > 0, queries > 100, refused instanceof OrdinateError && refused.code);
`;

/** A program that imports the client of an installed package: the compiler takes it, and it gets answers. */
async function useClient(t: Test, folder: string, name: string, { address, key }: Started): Promise<void> {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'program.ts'), PROGRAM.replace('ordinate-client', name));
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const types = ['--typeRoots', join(ROOT, 'node_modules/@types')];
  const compiled = await run(folder, {}, join(ROOT, 'node_modules/.bin/tsc'), ...options, ...types, 'program.ts');
  t.equal(compiled.code, 0, `the compiler takes it ${compiled.stdout}`);
  const ran = await run(folder, { PATH: PINNED_PATH }, 'node', 'program.ts', address, key);
  t.match(ran, { code: 0, stdout: '2 true true invalid_request\n' }, 'it gets answers and errors');
}

/** Installs the client that was built with the package, alone, and uses it. */
async function installClient(t: Test, folder: string, server: Started): Promise<void> {
  const settings = { PATH: PINNED_PATH };
  const packed = await run(ROOT, settings, 'npm', 'pack', './dist/client', '--silent', '--pack-destination', folder);
  t.equal(packed.code, 0, packed.stderr);
  const alone = join(folder, 'alone');
  mkdirSync(alone);
  const tarball = join(folder, `ordinate-client-${version}.tgz`);
  const installed = await run(alone, settings, 'npm', 'install', '--offline', '--cache', join(folder, 'none'), tarball);
  t.equal(installed.code, 0, `without a registry ${installed.stderr}`);
  const modules = join(alone, 'node_modules');
  t.strictSame(
    readdirSync(modules).filter((name) => !name.startsWith('.')),
    ['ordinate-client'],
    'it has no dependencies',
  );
  const files = globSync('ordinate-client/*', { cwd: modules }).sort();
  const code = ['client', 'openapi', 'operations'].flatMap((name) => [`${name}.d.ts`, `${name}.js`]);
  t.strictSame(
    files,
    ['LICENSE', 'README.md', ...code, 'package.json'].map((name) => join('ordinate-client', name)),
  );
  const bytes = files.reduce((sum, file) => sum + statSync(join(modules, file)).size, 0);
  // Some eleven kilobytes of types for each of its operations.
  t.ok(bytes < 220_000, `${bytes} bytes`);
  await useClient(t, alone, 'ordinate-client', server);
}

t.test('npm pack, npm install --global, ordinate serve --demo', async (t) => {
  t.equal(
    guideBlock('operate', 'package'),
    `npm ci\nnpm pack\nnpm install --global ./ordinate-${version}.tgz\nordinate serve --demo\n`,
    'what the guide says is what is done here',
  );
  const folder = temporaryFolder(t);
  const prefix = join(folder, 'prefix');
  const packed = await run(ROOT, { PATH: PINNED_PATH }, 'npm', 'pack', '--silent', '--pack-destination', folder);
  t.equal(packed.code, 0, packed.stderr);
  const tarball = join(folder, `ordinate-${version}.tgz`);

  const files = execFileSync('tar', ['tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const sql = globSync('sql/**/*.sql', { cwd: ROOT }).filter((path) => !path.startsWith('sql/bench/'));
  const wanted = ['LICENSE', 'README.md', 'SECURITY.md', 'CHANGELOG.md', 'dist/server/api/examples.json'];
  for (const path of [...wanted, ...sql.map((path) => `dist/${path}`)]) {
    if (!files.includes(`package/${path}`)) t.fail(`${path} is not in the package`);
  }
  t.strictSame(
    files.filter(
      (path) =>
        /\.ts$|^package\/(test|scripts|server|client|data|node_modules)\/|bench|docs\/(decisions|research)\//.test(
          path,
        ) && !/^package\/dist\/client\/\w+\.d\.ts$/.test(path),
    ),
    [],
    'no TypeScript but the types of the client, no tests, benchmarks or documents for maintainers',
  );

  const installed = await run(
    folder,
    { PATH: PINNED_PATH },
    'npm',
    ...['install', '--global', '--prefix', prefix, '--prefer-offline', tarball],
  );
  t.equal(installed.code, 0, installed.stderr);
  t.notMatch(installed.stderr, /EBADENGINE|install-scripts/);

  const home = join(prefix, 'lib/node_modules/ordinate');
  const megabytes = Number.parseInt(execFileSync('du', ['-sm', home], { encoding: 'utf8' }), 10);
  t.ok(megabytes <= MAX_MEGABYTES, `it takes ${megabytes} MB, at most ${MAX_MEGABYTES}`);
  const licenses = readFileSync(join(home, 'dist/LICENSES.txt'), 'utf8');
  for (const name of BUNDLED) t.match(licenses, new RegExp(`^${name} [\\d.]+ \\(`, 'm'));
  for (const name of [...BUNDLED, ...OPTIONAL]) {
    // What a dependency brings is not for us.
    if (existsSync(join(home, 'node_modules', name)) && name !== '@opentelemetry/api') t.fail(`${name} is installed`);
  }

  const ordinate = join(prefix, 'bin', 'ordinate');
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  t.match(await run(empty, { PATH: PINNED_PATH }, ordinate, '--version'), { code: 0, stdout: `${version}\n` });
  t.strictSame(readdirSync(empty), [], 'a question about the version makes nothing');

  const server = await startServer(t, empty, { PATH: PINNED_PATH }, ordinate, 'serve', '--demo');
  await answers(t, server);
  t.strictSame(readdirSync(empty), ['data'], 'the data folder is in the current one');
  t.match(await run(empty, { PATH: PINNED_PATH }, ordinate, 'projects', 'list'), { code: 0, stdout: /Fw7kd/ });
  const beside = join(folder, 'beside');
  mkdirSync(join(beside, 'node_modules'), { recursive: true });
  symlinkSync(join(prefix, 'lib/node_modules/ordinate'), join(beside, 'node_modules/ordinate'));
  await useClient(t, beside, 'ordinate/client', server);
  await installClient(t, folder, server);
  const ended = once(server.child, 'exit');
  server.child.kill('SIGTERM');
  t.strictSame(await ended, [0, null], 'a signal reaches the server itself');

  const settings = { PATH: PINNED_PATH, ORDINATE_LIMITS: 'redis://127.0.0.1:1', ORDINATE_JOBS: 'off' };
  const options = ['--prefix', prefix];
  await installMissing(t, empty, { needs: 'ORDINATE_LIMITS', settings, options }, ordinate, 'serve', '--port', '0');
  const limited = await startServer(t, join(folder, 'alone'), settings, ordinate, 'serve', '--demo');
  await until('the process that loads the older days', async () => {
    const { code } = await run('/', {}, 'pkill', '-KILL', '--parent', String(limited.child.pid));
    return code === 0 ? true : undefined;
  });
  await until('what became of the older days', () =>
    /stays without its older days .*SIGKILL/.test(limited.printed()) ? true : undefined,
  );
  limited.child.kill('SIGTERM');

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
