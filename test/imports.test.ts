import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import t from 'tap';

/** Which modules of `server/` a module may import; imports go down only (ARCHITECTURE.md, "Modules"). */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['app.ts', 'api', 'jobs', 'metrics', 'catalog', 'facts', 'process-folder.ts', 'settings'],
  cluster: ['main.ts', 'api', 'jobs', 'metrics', 'catalog', 'runtime', 'settings'],
  'worker.ts': ['api', 'jobs', 'metrics', 'catalog', 'settings'],
  'app.ts': [
    'dashboard',
    'mcp',
    'metrics',
    'api',
    'ops',
    'formats',
    'lists',
    'facts',
    'catalog',
    'storage',
    'runtime',
    'settings',
  ],
  dashboard: ['api', 'reports', 'alerts', 'sync', 'facts', 'catalog', 'domain'],
  metrics: ['api', 'catalog', 'domain', 'runtime', 'settings'],
  mcp: ['api', 'formats', 'reports', 'catalog', 'domain', 'runtime'],
  api: ['formats', 'reports', 'catalog', 'domain', 'runtime'],
  formats: ['reports', 'facts', 'catalog', 'domain', 'runtime'],
  reports: ['lists', 'facts', 'catalog', 'storage', 'domain', 'runtime'],
  jobs: [
    'retention',
    'alerts',
    'sync',
    'providers',
    'lists',
    'load',
    'facts',
    'catalog',
    'storage',
    'domain',
    'process-folder.ts',
    'runtime',
    'settings',
  ],
  retention: ['alerts', 'load', 'facts', 'catalog', 'domain', 'process-folder.ts', 'settings'],
  sync: ['providers', 'load', 'facts', 'catalog', 'storage', 'domain', 'process-folder.ts', 'settings', 'runtime'],
  alerts: ['facts', 'catalog', 'storage', 'domain', 'runtime', 'process-folder.ts', 'settings'],
  lists: ['providers', 'facts', 'catalog', 'storage', 'domain', 'settings', 'runtime'],
  providers: ['catalog', 'domain', 'settings', 'runtime'],
  manage: ['providers', 'load', 'facts', 'catalog', 'storage', 'domain', 'process-folder.ts', 'settings', 'runtime'],
  export: ['load', 'facts', 'catalog', 'storage', 'domain', 'process-folder.ts', 'settings', 'runtime'],
  import: ['load', 'facts', 'catalog', 'storage', 'domain', 'process-folder.ts', 'settings', 'runtime'],
  backup: ['load', 'catalog', 'storage', 'domain', 'process-folder.ts', 'runtime', 'settings'],
  ops: ['load', 'facts', 'catalog', 'storage', 'domain', 'settings', 'runtime'],
  load: ['facts', 'catalog', 'storage', 'domain', 'process-folder.ts', 'settings', 'runtime'],
  facts: ['storage', 'domain', 'runtime', 'settings'],
  catalog: ['storage', 'domain', 'runtime'],
  storage: ['process-folder.ts', 'domain', 'runtime', 'settings'],
  domain: [],
  runtime: ['domain'],
  'process-folder.ts': ['domain', 'runtime'],
  settings: [],
};

/** The packages that only one module may import. */
const RESERVED: Readonly<Record<string, string>> = {
  '@duckdb/node-api': 'facts',
  '@duckdb/node-bindings': 'facts',
  'node:sqlite': 'catalog runtime storage',
  '@aws-sdk/client-s3': 'storage',
  '@aws-sdk/lib-storage': 'storage',
  pg: 'catalog',
  '@google-cloud/bigquery': 'providers',
  '@googleapis/searchconsole': 'providers',
  'google-auth-library': 'providers',
  '@redis/client': 'api',
  'apache-arrow': 'formats',
  '@modelcontextprotocol/server': 'mcp',
  'prom-client': 'metrics',
  '@fastify/otel': 'metrics',
  '@opentelemetry/api': 'metrics',
  '@opentelemetry/exporter-trace-otlp-http': 'metrics',
  '@opentelemetry/sdk-trace-node': 'metrics',
};

const root = join(import.meta.dirname, '..');
/** What runs in the browser. */
const CLIENT = 'server/dashboard/client';
/** The types of the API's answers, which leave nothing in the program. */
const API_TYPES = 'client/openapi.ts';

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([@.\w][^']*)'/g)].map((match) => match[1]!);
}

function moduleOf(file: string): string {
  return file.split('/')[1]!;
}

t.test('imports of the server go down only', (t) => {
  const files = globSync('server/**/*.ts', { cwd: root, exclude: [`${CLIENT}/**`] });
  t.ok(files.length > 40, 'all of the server is looked at');
  for (const file of files) {
    const module = moduleOf(file);
    const allowed = MAY_IMPORT[module];
    if (allowed === undefined) t.fail(`${file} is in a module that the table does not name`);
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) {
        const target = moduleOf(relative(root, join(root, dirname(file), name)));
        if (target !== module && !allowed?.includes(target)) t.fail(`${file} must not import ${target}`);
      } else {
        const owner = RESERVED[name];
        if (owner !== undefined && !owner.split(' ').includes(module)) t.fail(`${file} must not import ${name}`);
      }
    }
  }
  t.end();
});

t.test('what runs in the browser imports nothing of the server, and little else', (t) => {
  const files = globSync(`${CLIENT}/**/*.{ts,tsx}`, { cwd: root });
  t.ok(files.length > 10, 'all of it is looked at');
  for (const file of files) {
    for (const name of importsOf(file)) {
      const target = join(dirname(file), name);
      const isOwn = name.startsWith('.') && (target.startsWith(`${CLIENT}/`) || target === API_TYPES);
      if (!isOwn && !/^(@?preact|uplot)(\/|-iso\/|$)/.test(name)) t.fail(`${file} must not import ${name}`);
    }
  }
  t.end();
});

t.test('the domain does no input or output', (t) => {
  for (const file of globSync('server/domain/*.ts', { cwd: root })) {
    const outside = importsOf(file).filter((name) => name.startsWith('node:') && name !== 'node:crypto');
    t.strictSame(outside, [], file);
  }
  t.end();
});

t.test('only repositories name the statements of the catalog and of the usage database', (t) => {
  const names = ['catalog', 'usage'].flatMap((folder) =>
    globSync(`sql/${folder}/*.sql`, { cwd: root }).map((file) => basename(file, '.sql')),
  );
  t.ok(names.length > 80, 'all statements are known');
  const named = new RegExp(`\\.(?:get|all|each|run|runEach|change)(?:<[^()]*>)?\\(\\s*'(?:${names.join('|')})'`);
  const offences = (text: string): string[] =>
    [
      named,
      /\.statements\b|\{ statements\b/,
      /\/catalog\/(?:sqlite|postgres)\//,
      /'node:sqlite'/,
      /sqlText\('(?:catalog|usage)\//,
    ].flatMap((rule) => rule.exec(text)?.[0] ?? []);
  // They have SQLite files of their own.
  const own = ['server/runtime/file-lock.ts', 'server/storage/s3/cache-index.ts'];
  const exclude = ['server/catalog/**', ...own];
  const files = globSync('{server,scripts}/**/*.ts', { cwd: root, exclude });
  t.ok(files.length > 150, 'all callers are looked at');
  for (const file of files) t.strictSame(offences(readFileSync(join(root, file), 'utf8')), [], file);
  // What it finds.
  t.strictSame(offences("usage.run('list_used', {})").length, 1);
  t.strictSame(offences("catalog.statements.get<{ until: number }>('pause_get', {})").length, 2);
  t.strictSame(offences("app.get('/livez', {})"), []);
  t.end();
});

t.test('no files import each other in a circle, not even their types', (t) => {
  const files = globSync(['server/**/*.{ts,tsx}', 'scripts/**/*.ts'], { cwd: root });
  const targets = new Map(
    files.map((file) => [
      file,
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(root, join(root, dirname(file), name))),
    ]),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file);
    if (at >= 0) circles.push([...path.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  t.strictSame(circles, []);
  t.end();
});
