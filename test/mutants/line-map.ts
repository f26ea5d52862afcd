// Which test files run which lines of the product: V8's coverage of each file in a process of its own.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../runners/files.ts';

const CACHE = join(ROOT, 'node_modules/.cache/mutants/lines');

/** Runs of lines, both ends from 1 and included, in order. */
type Runs = readonly (readonly [from: number, to: number])[];

/** What a test file does. */
export interface TestLines {
  readonly test: string;
  /** Milliseconds that it takes. */
  readonly time: number;
  /** Whether it passes without a fault; else it can notice none. */
  readonly passes: boolean;
  /** Of the test file and the files that it names. */
  readonly hash: string;
  /** Lines that it runs inside functions, by source file. */
  readonly lines: Readonly<Record<string, Runs>>;
}

/** Files that a test names in quotes: modules beside it, and recorded texts. */
function filesOf(test: string): string[] {
  const names = [...readFileSync(join(ROOT, test), 'utf8').matchAll(/'([\w./-]+)'/g)].map(([, name]) => name!);
  const paths = names.flatMap((name) => [join(dirname(test), name), join('test/fixtures', name)]);
  return globSync(
    [...new Set(paths)].flatMap((path) => [path, `${path}/*.txt`]),
    { cwd: ROOT, withFileTypes: true },
  )
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function hashOf(test: string): string {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, test)));
  for (const file of filesOf(test)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

/** Types are stripped in place, so offsets of V8 are those of the source. */
function takeScript({ functions }: ScriptCoverage, source: string, into: Uint8Array): void {
  const ran = new Uint8Array(source.length);
  // The module itself comes first and is left out: it runs with each import.
  for (const { ranges } of functions.slice(1)) {
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  }
  let line = 0;
  for (let at = 0; at < source.length; at++) {
    if (source[at] === '\n') line++;
    else if (ran[at] === 1) into[line] = 1;
  }
}

function runsOf(lines: Uint8Array): Runs {
  const runs: [number, number][] = [];
  for (const [index, ran] of lines.entries()) {
    if (ran === 0) continue;
    const last = runs.at(-1);
    if (last?.[1] === index) last[1] = index + 1;
    else runs.push([index + 1, index + 1]);
  }
  return runs;
}

/** The lines of the product that processes have run. @param folder their coverage @param root the checkout that they ran in */
export function readCoverage(folder: string, root: string): Record<string, Runs> {
  const lines = new Map<string, Uint8Array>();
  const product = /^(?:server|cli|client)\//;
  for (const file of readdirSync(folder)) {
    let scripts: readonly ScriptCoverage[] = [];
    try {
      ({ result: scripts } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { result: ScriptCoverage[] });
    } catch {
      // Its process was killed while it wrote.
    }
    for (const script of scripts) {
      if (!script.url.startsWith('file://')) continue;
      const path = fileURLToPath(script.url.replace(/[?#].*$/, ''));
      const name = path.slice(root.length + 1);
      if (!path.startsWith(`${root}/`) || !product.test(name)) continue;
      const source = readFileSync(path, 'utf8');
      const into = lines.get(name) ?? new Uint8Array(source.split('\n').length);
      takeScript(script, source, into);
      lines.set(name, into);
    }
  }
  return Object.fromEntries([...lines].map(([name, ran]) => [name, runsOf(ran)]));
}

const cacheFile = (test: string): string => join(CACHE, `${test.replaceAll('/', '+')}.json`);

/** What is known of a test file, unless it has changed since. */
export function knownLines(test: string): TestLines | undefined {
  try {
    const known = JSON.parse(readFileSync(cacheFile(test), 'utf8')) as TestLines;
    return known.hash === hashOf(test) ? known : undefined;
  } catch {
    return undefined;
  }
}

export function keepLines(test: string, found: Omit<TestLines, 'test' | 'hash'>): TestLines {
  const kept = { test, hash: hashOf(test), ...found };
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(cacheFile(test), JSON.stringify(kept));
  return kept;
}

/** Forgets all, so that the map is made anew. */
export function forgetLines(): void {
  rmSync(CACHE, { recursive: true, force: true });
}

const sources = globSync('{server,cli}/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['**/dist/**'] });

/**
 * What code calls that uses a line of a SQL file: the file, or of a file with several statements the one that the line is of
 * (`keys.revoke`), or those that have the part which it is of.
 */
export function calledNames(name: string, text: string, line: number): string[] {
  const blocks = text.split(/^-- (?=(?:name|part): )/m).slice(1);
  const heads = [
    ...text
      .split('\n')
      .slice(0, line)
      .join('\n')
      .matchAll(/^-- (name|part): (\w+)/gm),
  ];
  const [, kind, own] = heads.at(-1) ?? [];
  if (kind === 'name') return [`${name}.${own}`];
  const users = blocks.filter((block) => kind === undefined || block.includes(`{>${own}}`));
  const found = users.flatMap((block) => /^name: (\w+)/.exec(block)?.[1] ?? []).map((one) => `${name}.${one}`);
  return found.length > 0 ? [...new Set(found)] : [name];
}

/** The places of the product that name a statement or import a module: `[file, line]`. */
function placesOf(name: string): [file: string, line: number][] {
  const pattern = new RegExp(`['"\`/{>]${name.replaceAll(/[.\\]/g, '\\$&')}['"\`.}]`);
  return sources.flatMap((file) => {
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    return lines.flatMap((line, index): [string, number][] => (pattern.test(line) ? [[file, index + 1]] : []));
  });
}

const runsLine = (runs: Runs | undefined, line: number): boolean =>
  runs?.some(([from, to]) => from <= line && line <= to) ?? false;

/** The tests that run a line; of a line outside functions, those that run anything of its file. */
function testsAt(all: readonly TestLines[], file: string, line: number): TestLines[] {
  const there = all.filter(({ lines }) => runsLine(lines[file], line));
  return there.length > 0 ? there : all.filter(({ lines }) => (lines[file]?.length ?? 0) > 0);
}

/** The tests that run a line of TypeScript or SQL, or the modules that import a file in which nothing runs. */
export function testsOfLine(all: readonly TestLines[], file: string, line: number): TestLines[] {
  const direct = testsAt(all, file, line);
  if (direct.length > 0) return direct;
  const name = basename(file).replace(/\.sql$/, '');
  const names = file.endsWith('.sql') ? calledNames(name, readFileSync(join(ROOT, file), 'utf8'), line) : [name];
  // A part of statements is named by other statements, a text of the schema by none: then all tests may notice it.
  const places = names.flatMap(placesOf);
  const found = new Set(places.flatMap(([at, where]) => testsAt(all, at, where)));
  return found.size > 0 ? [...found] : [...all];
}
