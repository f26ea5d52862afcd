// A statement exists in two SQL dialects only if the documentation lists it with a reason.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..');
const PAGE = 'docs/decisions/sql-dialects.md';

/** Statements that stand twice: a file for one database beside a file of the same name for the others. */
function twinsOf(files: readonly string[]): string[] {
  const known = new Set(files);
  const isTwin = (file: string): boolean => {
    if (file.includes('/migrations/')) return false;
    if (file.includes('/postgres/')) return known.has(file.replace('/postgres/', '/'));
    if (!file.startsWith('trino/')) return false;
    return ['facts', 'alerts', 'lists'].some((folder) => known.has(`${folder}/${basename(file)}`));
  };
  return files.filter(isTwin).sort();
}

/** Those of the table in the page, which gives each a reason. */
function listedIn(page: string): string[] {
  return [...page.matchAll(/^\| `sql\/([\w/-]+\.sql)` \| (\S.{20,}) \|$/gm)].map(([, file]) => file!);
}

t.test('statements that stand twice are listed with a reason, and no others', async (t) => {
  const files = globSync('**/*.sql', { cwd: join(root, 'sql') });
  const listed = listedIn(readFileSync(join(root, PAGE), 'utf8'));
  t.strictSame(listed, twinsOf(files), `${PAGE} lists them`);
  // What it finds.
  t.strictSame(
    twinsOf(['catalog/a.sql', 'catalog/postgres/a.sql', 'catalog/postgres/b.sql', 'trino/c.sql', 'alerts/c.sql']),
    ['catalog/postgres/a.sql', 'trino/c.sql'],
  );
});
