// Modules import only what the architecture allows, without circles, and each test file states its promise.
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import t from 'tap';
import { sqlNames } from '../server/runtime/sql.ts';
import { checkGenerated } from './docs/generated.ts';
import { MODULES, moduleDiagram, moduleTable, RESERVED } from './modules.ts';

const root = join(import.meta.dirname, '..');
/** What runs in the browser. */
const CLIENT = 'server/dashboard/client';
/** The types of the API's answers, which leave nothing in the program. */
const API_TYPES = 'client/openapi.ts';
/** Which days are compared with which, and what is said of changes: and which surfaces there are: one rule for the server and the browser. */
const SHARED = ['server/domain/compared-days.ts', 'server/domain/unsafe-texts.ts', 'server/model/surfaces.ts'];

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
  const used = new Map(Object.keys(MODULES).map((module) => [module, new Set<string>()]));
  for (const file of files) {
    const module = moduleOf(file);
    const allowed = MODULES[module]?.imports;
    if (allowed === undefined) t.fail(`${file} is in a module that test/modules.ts does not name`);
    for (const name of importsOf(file)) {
      if (name.startsWith('.')) {
        const target = moduleOf(relative(root, join(root, dirname(file), name)));
        if (target === module) continue;
        if (!allowed?.includes(target)) t.fail(`${file} must not import ${target}`);
        used.get(module)?.add(target);
      } else {
        const owner = RESERVED[name];
        if (owner !== undefined && !owner.split(' ').includes(module)) t.fail(`${file} must not import ${name}`);
      }
    }
  }
  const order = Object.keys(MODULES);
  for (const [module, { imports }] of Object.entries(MODULES)) {
    const unused = imports.filter((name) => !used.get(module)?.has(name));
    t.strictSame(unused, [], `${module} imports all that test/modules.ts says`);
    const above = imports.filter((name) => order.indexOf(name) <= order.indexOf(module));
    t.strictSame(above, [], `${module} stands above what it imports`);
  }
  t.end();
});

t.test('Trino is a folder behind one door', (t) => {
  const folder = 'server/facts/trino';
  const door = 'server/facts/open-facts.ts';
  const files = globSync('{server,cli,scripts,lab}/**/*.ts', { cwd: root, exclude: [`${folder}/**`] });
  const importers = files.filter((file) =>
    importsOf(file).some((name) => name.startsWith('.') && join(dirname(file), name).startsWith(`${folder}/`)),
  );
  t.strictSame(importers, [door], 'the file that opens facts');
  t.end();
});

t.test('a file store is opened by who compares it with the catalog', (t) => {
  const files = globSync('{server,cli}/**/*.ts', { cwd: root, exclude: ['server/storage/**'] });
  const openers = files.filter((file) => /\bopenFileStore\(/.test(readFileSync(join(root, file), 'utf8')));
  t.strictSame(openers.sort(), ['server/catalog/store.ts', 'server/maintenance/join-storage.ts']);
  t.end();
});

t.test('ARCHITECTURE.md has the modules as they are', (t) => {
  checkGenerated(t, 'ARCHITECTURE.md', 'modules', `${moduleDiagram()}\n\n${moduleTable()}`);
  t.end();
});

t.test('what runs in the browser imports nothing of the server, and little else', (t) => {
  const files = globSync(`${CLIENT}/**/*.{ts,tsx}`, { cwd: root });
  t.ok(files.length > 10, 'all of it is looked at');
  for (const file of files) {
    for (const name of importsOf(file)) {
      const target = join(dirname(file), name);
      const isOwn =
        name.startsWith('.') && (target.startsWith(`${CLIENT}/`) || target === API_TYPES || SHARED.includes(target));
      if (!isOwn && !/^(@?preact|uplot|punycode|fflate)(\/|-iso\/|$)/.test(name))
        t.fail(`${file} must not import ${name}`);
    }
  }
  t.strictSame(SHARED.flatMap(importsOf), [], 'nothing comes with the rules that both use');
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
  const names = ['catalog', 'catalog/postgres', 'usage', 'usage/postgres']
    .flatMap(sqlNames)
    .map((name) => basename(name).replace('.', '\\.'));
  t.ok(names.length > 300, 'all statements are known');
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
  t.strictSame(offences("usage.run('lists.used', {})").length, 1);
  t.strictSame(offences("catalog.statements.get<{ until: number }>('provider-pauses.one', {})").length, 2);
  t.strictSame(offences("x.run('provider-pauses.one', {})").length, 1);
  t.strictSame(offences("app.get('/livez', {})"), []);
  t.end();
});

t.test('every test file begins with a sentence that says what it promises', (t) => {
  const isPromise = (text: string): boolean => /^\/\/ (?!Tests?\b)\S.{15,115}\.$/.test(text.split('\n', 1)[0]!);
  const own = ['test/browser/dashboard.ts', 'test/package/{clients,image,installed}.ts'];
  const files = globSync(['test/**/*.test.ts', ...own], { cwd: root });
  t.ok(files.length > 190, 'all of them are looked at');
  t.strictSame(
    files.filter((file) => !isPromise(readFileSync(join(root, file), 'utf8'))),
    [],
  );
  // What it finds.
  const wrong = [
    "import t from 'tap';",
    '// Tests of the loader and of files.',
    '// Short.',
    '// A line without a full stop',
    `// ${'a'.repeat(117)}.`,
  ];
  t.strictSame(wrong.filter(isPromise), []);
  t.end();
});

t.test('no files import each other in a circle, not even their types', (t) => {
  const files = globSync(['server/**/*.{ts,tsx}', 'cli/**/*.ts', 'scripts/**/*.ts', 'lab/**/*.ts'], { cwd: root });
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
