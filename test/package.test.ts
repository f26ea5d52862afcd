// The package has one version, a license, and dependencies that run on the supported Node version.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies } from 'semver';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');

interface Manifest {
  readonly version: string;
  readonly license?: string;
  readonly engines?: { readonly node?: string };
  readonly resolved?: string;
  readonly optional?: true;
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as T;
}

const manifest = read<Manifest & { optionalDependencies: Record<string, string> }>('package.json');
const lock = read<{ version: string; packages: Record<string, Manifest> }>('package-lock.json');
const dependencies = Object.entries(lock.packages).filter(([path]) => path !== '');

t.test('the license, by name and in full', (t) => {
  t.equal(manifest.license, 'Apache-2.0');
  const text = readFileSync(join(ROOT, 'LICENSE'), 'utf8');
  t.match(text, /^\s+Apache License\s+Version 2\.0, January 2004\s/);
  t.match(text, /9\. Accepting Warranty[\s\S]*END OF TERMS AND CONDITIONS/);
  t.match(text, /Copyright \d{4} The Ordinate authors/);
  t.end();
});

t.test('one version in package.json, the lock file and the guide', (t) => {
  t.equal(lock.version, manifest.version);
  t.equal(lock.packages['']?.version, manifest.version);
  t.equal(read<Manifest>('client/package.json').version, manifest.version);
  for (const file of ['docs/operate.md', 'docs/programs.md']) {
    const named = readFileSync(join(ROOT, file), 'utf8').match(/\bordinate(?:-client)?[-:]\d+\.\d+\.\d+/g) ?? [];
    t.ok(named.length > 0, `${file} names the package`);
    for (const name of named) t.match(name, new RegExp(`[-:]${manifest.version}$`), file);
  }
  t.end();
});

t.test('every package runs on the Node version that Ordinate requires', (t) => {
  const { node = '' } = manifest.engines ?? {};
  t.ok(satisfies(process.version, node), `${process.version} is ${node}`);
  for (const [name, version] of Object.entries(manifest.optionalDependencies)) {
    t.ok(satisfies(version, node), `the pinned runtime ${name}@${version} is ${node}`);
  }
  const installed = dependencies.filter(([path]) => existsSync(join(ROOT, path, 'package.json')));
  t.ok(installed.length > 100, 'all installed packages are checked');
  for (const [path] of installed) {
    const wanted = read<Manifest>(join(path, 'package.json')).engines?.node;
    if (wanted !== undefined && !satisfies(process.version, wanted)) t.fail(`${path} asks for Node ${wanted}`);
  }
  t.end();
});

t.test('the lock file names neither Node versions (`npm run lock` removes them) nor a registry', (t) => {
  t.strictSame(
    dependencies.filter(([, { engines, optional }]) => engines && !optional).map(([path]) => path),
    [],
  );
  t.strictSame(
    dependencies.filter(([, { resolved }]) => resolved).map(([path]) => path),
    [],
  );
  t.end();
});

t.test('the binaries of DuckDB are installed once', (t) => {
  const names = dependencies.map(([path]) => path.split('node_modules/').at(-1)!);
  const duckdb = names.filter((name) => name.startsWith('@duckdb/'));
  t.ok(duckdb.includes('@duckdb/node-bindings-linux-x64'));
  t.strictSame(duckdb, [...new Set(duckdb)]);
  t.end();
});
