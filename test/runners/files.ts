import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

/** Test files that must be the only one of their process: these are about which packages a process has loaded. */
export const ALONE: readonly string[] = ['test/providers/loading.test.ts', 'test/runtime/optional-packages.test.ts'];

/** Checks of texts, which need no server: `npm run check` runs them, and `npm test` does not. */
export const TEXTS: readonly string[] = [
  'test/docs/iam.test.ts',
  'test/docs/links.test.ts',
  'test/docs/reference.test.ts',
  'test/house.test.ts',
  'test/imports.test.ts',
  'test/lab/plants.test.ts',
  'test/package.test.ts',
  'test/runners/lanes.test.ts',
  'test/sql-aliases.test.ts',
  'test/sql-twins.test.ts',
];

/** How long each file took when it ran last, in milliseconds. */
const TIMES = join(ROOT, 'node_modules/.cache/test-times');

const flat = (file: string): string => file.replaceAll('/', '+');

function timeOf(file: string): number {
  try {
    return Number(readFileSync(join(TIMES, flat(file)), 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** All test files but `TEXTS` and those that need servers of a cluster, the slowest first: what begins last should not take long. */
export function testFiles(): string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['test/cluster/**', ...TEXTS] }).map((file) => ({
    file,
    time: timeOf(file),
  }));
  return files.sort((a, b) => (a.time === b.time ? 0 : b.time - a.time)).map(({ file }) => file);
}

/** Notes how long a file took. */
export function tookTime(file: string, milliseconds: number): void {
  mkdirSync(TIMES, { recursive: true });
  writeFileSync(join(TIMES, flat(file)), String(Math.round(milliseconds)));
}

/** What a process prints before it runs the tests of a file. */
export const fileLine = (file: string): string => `file: ${file}`;

/** Such a line as tap prints it. */
export const FILE_LINE: RegExp = /^ {8}# file: (\S+)$/;
