// Prints how much there is to read, and fails where a figure is above its ceiling. Ceilings only fall: `--lower` sets them.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CEILINGS = join(import.meta.dirname, 'size-ceilings.json');

/** Where each of the paths begins that a maintainer follows. */
const PATHS = {
  'keywords request': 'server/api/routes/keywords.ts',
  'sync window': 'server/sync/run.ts',
  'alert evaluation': 'server/alerts/evaluate.ts',
  load: 'server/load/load.ts',
} as const;
/** Modules whose names say what their functions do, so that a reader of a path need not open them. */
const SELF_EXPLAINING = /^server\/(domain|runtime|settings|catalog|storage)\//;
const BROWSER = 'server/dashboard/client/**';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const linesOf = (file: string): number => read(file).split('\n').length - 1;
const files = (patterns: string[], exclude: string[] = []): string[] => globSync(patterns, { cwd: ROOT, exclude });
const lines = (found: readonly string[]): number => found.reduce((sum, file) => sum + linesOf(file), 0);
const wordsOf = (file: string): number => read(file).split(/\s+/).filter(Boolean).length;

/** Imports of a file that exist when the program runs, as paths from the root. */
function importsOf(file: string): string[] {
  return [...read(file).matchAll(/^(?:import|export)\s+(?!type\s)([^'"]*?)from\s+'(\.[^']*)'/gms)]
    .filter(([, names = '']) => !/^\{(\s*type\s+\w+(\s+as\s+\w+)?\s*,?)+\s*\}\s*$/.test(names.trim()))
    .map(([, , target = '']) => relative(ROOT, join(ROOT, dirname(file), target)));
}

/** All files that a file needs, itself included. */
function closureOf(start: string, isLeftOut: (file: string) => boolean = () => false): string[] {
  const found = new Set<string>();
  const left = [start];
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file) || isLeftOut(file)) continue;
    found.add(file);
    left.push(...importsOf(file));
  }
  return [...found];
}

const server = files(['server/**/*.ts'], [BROWSER, 'server/dashboard/dist/**']);
const modules = new Set(server.filter((file) => file.split('/').length > 2).map((file) => file.split('/')[1]!));

/** Pairs of modules that import each other, also only for types. */
function circles(): number {
  const pairs = new Set<string>();
  for (const file of server) {
    for (const [, target = ''] of read(file).matchAll(/from\s+'(\.[^']*)'/g)) {
      const [from, to] = [file, relative(ROOT, join(ROOT, dirname(file), target))].map((path) => path.split('/')[1]!);
      if (from !== to) pairs.add(`${from} ${to}`);
    }
  }
  return [...pairs].filter((pair) => pairs.has(pair.split(' ').toReversed().join(' '))).length / 2;
}

/** How often a word stands in the code, without texts of the dashboard. */
function uses(word: RegExp): number {
  return [...server, ...files(['cli/**/*.ts'])].reduce((sum, file) => sum + (read(file).match(word)?.length ?? 0), 0);
}

function measure(): Record<string, number> {
  const sql = files(['sql/**/*.sql'], ['sql/evidence/**', 'sql/bench/**']);
  const client = files([BROWSER]).filter((file) => /\.(tsx?|css)$/.test(file));
  const longest = Math.max(...[...server, ...client, ...files(['cli/**/*.ts', 'lab/**/*.ts'])].map(linesOf));
  const paths = Object.entries(PATHS).flatMap(([name, start]) => {
    const closure = closureOf(start);
    return [
      [`${name}: files`, closure.length],
      [`${name}: lines`, lines(closure)],
      [`${name}: files to open`, closureOf(start, (file) => SELF_EXPLAINING.test(file)).length],
    ] as const;
  });
  return {
    'product: lines of the server': lines(server),
    'product: lines of the command line': lines(files(['cli/**/*.ts'], ['cli/demo/**'])),
    'product: lines of the demo': lines(files(['cli/demo/**/*.ts'])),
    'product: lines of SQL': lines(sql),
    'lines of the dashboard in the browser': lines(client),
    'lines of the laboratory': lines(files(['lab/**/*.ts', 'sql/{bench,evidence}/**/*.sql'])),
    'longest file in lines': longest,
    modules: modules.size,
    'pairs of modules that import each other': circles(),
    ...Object.fromEntries(paths),
    'words of ARCHITECTURE.md': wordsOf('ARCHITECTURE.md'),
    'lines of README.md': linesOf('README.md'),
    'uses of `own`': uses(/\bown\b/g),
    'uses of `place`': uses(/\bplaces?\b/gi),
    'uses of `isWhole`': uses(/\bisWhole\w*/g),
  };
}

const ceilings = JSON.parse(readFileSync(CEILINGS, 'utf8')) as Record<string, number>;
const found = measure();
const above = Object.keys(found).filter((name) => found[name]! > (ceilings[name] ?? 0));
for (const [name, value] of Object.entries(found)) {
  const ceiling = ceilings[name];
  const mark = above.includes(name) ? '  above its ceiling' : '';
  process.stdout.write(`${String(value).padStart(7)}  ${name} (at most ${ceiling ?? 'nothing'})${mark}\n`);
}
if (process.argv.includes('--lower')) {
  const lower = Object.entries(found).map(([name, value]) => [name, Math.min(value, ceilings[name] ?? value)]);
  writeFileSync(CEILINGS, `${JSON.stringify(Object.fromEntries(lower), undefined, 2)}\n`);
} else if (above.length > 0) {
  process.stdout.write(
    `${above.length} above: make something smaller, or raise the ceiling in scripts/size-ceilings.json and say in the commit why.\n`,
  );
  process.exitCode = 1;
}
