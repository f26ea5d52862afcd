// Every path, link, script and background job that the documents name exists.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { JOBS } from '../../server/jobs/jobs.ts';
import { ROOT } from '../readme.ts';

const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Folders and files of the repository, without what is not in git. */
const TOP = readdirSync(ROOT).filter((name) => !['data', 'dist', 'node_modules', 'screenshots', '.git'].includes(name));

/** The paths that a text names in backticks or runs. `NAME`, `*` and the like stand for any name. */
function pathsOf(text: string): string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g), ...text.matchAll(/^```\w*.*\n([\s\S]*?)^```$/gm)];
  return code
    .flatMap(([, inside = '']) => inside.split(/\s+/))
    .filter((word) => /^[\w.*-]+\/[\w./*-]*$/.test(word))
    .filter((word) => /\.(tsx?|sql)$/.test(word) || TOP.includes(word.split('/')[0]!));
}

const isThere = (path: string): boolean =>
  globSync(path.replaceAll(/\b[A-Z]{2,}\b/g, '*').replace(/\/$/, ''), { cwd: ROOT }).length > 0;

t.test('every path that a document names exists', (t) => {
  t.strictSame(pathsOf('`server/x.ts` `npm test test/y.test.ts` `a/b` `docs/`, `facts/TABLE/`'), [
    'server/x.ts',
    'test/y.test.ts',
    'docs/',
  ]);
  t.notOk(isThere('server/nothing.ts'));
  t.ok(isThere('server/presets/NAME.ts'));
  for (const file of DOCUMENTS) {
    t.strictSame(
      pathsOf(textOf(file)).filter((path) => !isThere(path)),
      [],
      file,
    );
  }
  t.end();
});

t.test('every script of npm that a document names exists', (t) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  for (const file of DOCUMENTS) {
    const named = [...textOf(file).matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!);
    t.strictSame(
      named.filter((name) => scripts[name] === undefined),
      [],
      file,
    );
  }
  t.end();
});

t.test('every link to a file leads to one, and to a heading of it', (t) => {
  for (const file of DOCUMENTS) {
    for (const [, path = '', anchor] of textOf(file).matchAll(/\]\((?!https?:|\/)([^)#\s]*)(?:#([\w-]+))?\)/g)) {
      const target = path === '' ? file : join(dirname(file), path);
      t.ok(existsSync(join(ROOT, target)), `${file}: ${target}`);
      if (anchor !== undefined) t.ok(headingsOf(target).includes(anchor), `${file}: ${target}#${anchor}`);
    }
  }
  t.end();
});

function headingsOf(file: string): string[] {
  const headings = textOf(file).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(/\s+/g, '-'),
  );
}

t.test('decisions and measurements: a page each, of one form, named by an index', (t) => {
  for (const folder of ['decisions', 'research']) {
    const index = textOf(`docs/${folder}/index.md`);
    const pages = globSync(`docs/${folder}/*.md`, { cwd: ROOT }).filter((file) => !file.endsWith('/index.md'));
    t.ok(pages.length >= 5);
    for (const file of pages) {
      t.match(index, `](${basename(file)})`, `the index names ${file}`);
      t.match(textOf(file), /^# .+\n\n20\d\d-\d\d-\d\d\b/, `${file} has a title and a date`);
      if (folder === 'research') continue;
      const headings = [...textOf(file).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      t.strictSame(headings, ['Context', 'Decision', 'Consequences'], file);
    }
  }
  t.end();
});

t.test('the guide for operators has every background job', (t) => {
  const [, jobs = ''] = /## Background jobs\n([\s\S]*?)\n## /.exec(textOf('docs/operate.md')) ?? [];
  const named = [...jobs.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name!);
  t.strictSame(named.sort(), JOBS.map(({ name }) => name).sort());
  t.end();
});

t.test('CONTRIBUTING.md begins a measurement as test/lab/bench.test.ts does', (t) => {
  t.match(textOf('CONTRIBUTING.md'), '```sh bench\nnpm run bench -- --quick\n```');
  t.end();
});
