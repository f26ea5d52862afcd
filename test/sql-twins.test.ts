// A statement exists in two SQL dialects only if the documentation lists it with a reason.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { sqlNames } from '../server/runtime/sql.ts';

const PAGE = 'docs/decisions/sql-dialects.md';

/** Statements that stand twice: one for a database beside one of the same name for the others. */
function twinsOf(statements: readonly string[]): string[] {
  const known = new Set(statements);
  const isTwin = (statement: string): boolean => {
    if (statement.includes('/postgres/')) return known.has(statement.replace('/postgres/', '/'));
    if (!statement.startsWith('trino/')) return false;
    return ['facts', 'alerts', 'lists'].some((folder) => known.has(`${folder}/${basename(statement)}`));
  };
  return statements.filter(isTwin).sort();
}

/** Those of the table in the page, which gives each a reason. */
function listedIn(page: string): string[] {
  return [...page.matchAll(/^\| `([\w/.-]+)` \| (\S.{20,}) \|$/gm)].map(([, statement]) => statement!);
}

t.test('statements that stand twice are listed with a reason, and no others', async (t) => {
  const listed = listedIn(readFileSync(join(import.meta.dirname, '..', PAGE), 'utf8'));
  t.strictSame(listed, twinsOf(sqlNames()), `${PAGE} lists them`);
  // What it finds.
  t.strictSame(twinsOf(['catalog/a.put', 'catalog/postgres/a.put', 'catalog/postgres/b.put', 'trino/c', 'alerts/c']), [
    'catalog/postgres/a.put',
    'trino/c',
  ]);
});
