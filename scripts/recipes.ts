// npm run test:recipes: follows each recipe of CONTRIBUTING.md in a copy of the checkout. An example of each is in
// test/recipes: the files that it adds, and the lines that it adds to others. Counts the files, then runs the compiler, the
// linter, the import rules and the recipe's tests over the copy.
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** A line or block to add after or before another one, or to put in its stead. Each must stand there exactly once. */
type Edit = { readonly file: string; readonly add: string } & (
  | { readonly after: string }
  | { readonly before: string }
  | { readonly replace: string }
);

interface Recipe {
  /** Its heading in CONTRIBUTING.md. */
  readonly title: string;
  /** Most files that it may add or change. */
  readonly most: number;
  readonly edits: readonly Edit[];
  /** Tests of the copy, besides those of all recipes. */
  readonly tests: readonly string[];
}

const ROOT = join(import.meta.dirname, '..');
const RECIPES = join(ROOT, 'test/recipes');
/** Added files end in it, so that nothing takes them for a part of the product. */
const ENDING = '.txt';

const folder = mkdtempSync(join(tmpdir(), 'ordinate-recipes-'));
try {
  copyCheckout();
  const guide = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const tests = new Set(['test/imports.test.ts']);
  const changed = new Set<string>();
  for (const path of globSync('*/recipe.json', { cwd: RECIPES }).sort()) {
    const recipe = JSON.parse(readFileSync(join(RECIPES, path), 'utf8')) as Recipe;
    const { title, most } = recipe;
    if (!guide.includes(`\n### ${title}\n`)) throw new Error(`CONTRIBUTING.md has no recipe '${title}'.`);
    const files = new Set([...addFiles(dirname(path)), ...recipe.edits.map(edit)]);
    process.stdout.write(`${title}: ${files.size} files (at most ${most})\n`);
    if (files.size > most) throw new Error(`'${title}' needs more files than ${most}: ${[...files].join(', ')}`);
    for (const file of files) changed.add(file);
    for (const test of recipe.tests) tests.add(test);
  }
  run('tsc', '--noEmit');
  run('biome', 'check', '--error-on-warnings', ...changed);
  // Like the recipes, this records the new OpenAPI document.
  run('env', 'UPDATE_RECORDED=1', process.execPath, 'scripts/test.ts', 'test/openapi.test.ts');
  run(process.execPath, 'scripts/test.ts', '--together', ...tests);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Copies what is or could be committed; packages are shared. */
function copyCheckout(): void {
  const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  for (const file of listed.stdout.split('\0')) {
    if (file !== '' && !file.startsWith('test/recipes/')) cpSync(join(ROOT, file), join(folder, file), { force: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Adds the files of a recipe; returns their paths. */
function addFiles(recipe: string): string[] {
  const from = join(RECIPES, recipe, 'files');
  return globSync(`**/*${ENDING}`, { cwd: from }).map((path) => {
    const file = path.slice(0, -ENDING.length);
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), readFileSync(join(from, path)), { flag: 'wx' });
    return file;
  });
}

/** Makes an edit; returns the path of the file. */
function edit(change: Edit): string {
  const { file, add } = change;
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  const found = 'after' in change ? change.after : 'before' in change ? change.before : change.replace;
  if (text.split(found).length !== 2) throw new Error(`${file} must have this once: ${found}`);
  const made = 'after' in change ? `${found}\n${add}` : 'before' in change ? `${add}\n${found}` : add;
  writeFileSync(
    path,
    text.replace(found, () => made),
  );
  return file;
}

function run(command: string, ...words: string[]): void {
  process.stdout.write(`${[relative(ROOT, command) || command, ...words].join(' ')}\n`);
  const { status } = spawnSync(command, words, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ended with ${status}`);
}
