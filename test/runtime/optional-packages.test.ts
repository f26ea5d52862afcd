// A server that needs a package which is not installed says so, with the command that installs it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { importOptional, PackageMissing } from '../../server/runtime/optional-packages.ts';
import { fakeBigQuery } from '../fakes/bigquery.ts';
import { ordinate } from '../fakes/command-line.ts';
import { connect, connectedWorld, credentialsFile } from '../fakes/connected.ts';
import { ROOT } from '../readme.ts';
import { temporaryFolder } from '../world.ts';

const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  peerDependencies: Readonly<Record<string, string>>;
};
const versioned = (...names: string[]): string => names.map((name) => `${name}@${peerDependencies[name]}`).join(' ');
const INSTALL = 'run `npm install --save-prod --omit=dev';

/** Imports a module with this text, far from the packages of this checkout, with those that are given. */
function load(t: Test, text: string, packages: Readonly<Record<string, Readonly<Record<string, string>>>> = {}) {
  const folder = temporaryFolder(t);
  for (const [name, files] of Object.entries(packages)) {
    const at = join(folder, 'node_modules', name);
    mkdirSync(at, { recursive: true });
    for (const [file, content] of Object.entries(files)) writeFileSync(join(at, file), content);
  }
  writeFileSync(join(folder, 'module.mjs'), text);
  return () => import(pathToFileURL(join(folder, 'module.mjs')).href) as Promise<{ readonly name: string }>;
}

const OF_REDIS = "export { name } from '@redis/client';";
const redis = (load: () => Promise<{ readonly name: string }>) => importOptional('ORDINATE_LIMITS', /^@redis\//, load);

t.test('a package that is not installed: who needs it, and the command that installs it', async (t) => {
  const missing = new PackageMissing(
    `ORDINATE_LIMITS needs the package @redis/client, which is not installed: ${INSTALL} ${versioned('@redis/client')}\``,
  );
  await t.rejects(redis(load(t, OF_REDIS)), missing);
  t.match(peerDependencies['@redis/client'], /^\d+\.\d+\.\d+$/, 'the version is exact');
});

t.test('the command installs all that are needed together', async (t) => {
  const packages = ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'];
  const text = "import '@aws-sdk/client-s3'; import '@aws-sdk/lib-storage';";
  const found = { '@aws-sdk/client-s3': { 'package.json': '{"exports":"./index.js"}', 'index.js': '' } };
  const failed = importOptional('ORDINATE_STORAGE', /^@aws-sdk\//, load(t, text, found));
  const says = 'ORDINATE_STORAGE needs the package @aws-sdk/lib-storage, which is not installed';
  await t.rejects(failed, new PackageMissing(`${says}: ${INSTALL} ${versioned(...packages)}\``));
});

t.test('a package that is installed is imported', async (t) => {
  const files = { 'package.json': '{"type":"module","exports":"./index.js"}', 'index.js': "export const name = 'it';" };
  t.equal((await redis(load(t, OF_REDIS, { '@redis/client': files }))).name, 'it');
});

t.test('any other failure is passed on as it is', async (t) => {
  const manifest = { 'package.json': '{"type":"module","exports":"./index.js"}' };
  const failures: Record<string, [files: Record<string, string>, error: object]> = {
    'a package that lacks one of its own': [
      { ...manifest, 'index.js': "import 'its-own';" },
      { code: 'ERR_MODULE_NOT_FOUND', message: /^Cannot find package 'its-own'/ },
    ],
    'a package without its files': [manifest, { code: 'ERR_MODULE_NOT_FOUND', message: /^Cannot find module/ }],
    'a package that fails': [
      { ...manifest, 'index.js': "throw new Error('no such socket'); export const name = 1;" },
      { message: 'no such socket' },
    ],
    'a package of another kind': [{ ...manifest, 'index.js': 'export const other = 1;' }, { name: 'SyntaxError' }],
  };
  for (const [name, [files, wanted]] of Object.entries(failures)) {
    const error: unknown = await redis(load(t, OF_REDIS, { '@redis/client': files })).catch((it: unknown) => it);
    t.match(error, wanted, name);
    t.notOk(error instanceof PackageMissing, name);
  }
});

t.test('a connection to BigQuery without its package', async (t) => {
  const hooks = registerHooks({
    resolve: (name, context, next) =>
      next(name, name === '@google-cloud/bigquery' ? { ...context, parentURL: 'file:///nowhere/module.js' } : context),
  });
  t.teardown(() => hooks.deregister());
  const warehouse = await fakeBigQuery(t);
  const world = await connectedWorld(t);
  const { tokenUrl: tokenEndpoint } = world.google;
  const connection = { endpoint: warehouse.url, tokenEndpoint, dataset: 'acme-search.searchconsole', location: null };
  await connect(world.catalog, { kind: 'bigquery', credentials: credentialsFile(t), ...connection });
  const tested = await ordinate(world.dataFolder, 'connections', 'test', '--project', 'Proj1');
  const install = `${INSTALL} ${versioned('@google-cloud/bigquery')}`;
  t.match(tested, {
    code: 1,
    out: /^Does not work: .*: A connection to BigQuery needs the package @google-cloud\/bigquery,/,
  });
  t.match(tested.out, install);
  t.equal((await world.ask('/queries?from=2026-02-01&to=2026-02-28')).body.source.kind, 'gsc');
  t.match(world.fetches(), [{ source: 'bigquery', outcome: 'misconfigured', reason: install }, { outcome: 'fetched' }]);
});
