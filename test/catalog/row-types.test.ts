// The code takes columns from rows of the catalog that are there, and as values of their type.
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isCallExpression, isPropertyAccessExpression, isStringLiteral, type Node } from 'typescript/unstable/ast';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { hasSql, sqlText } from '../../server/runtime/sql.ts';
import { ROOT } from '../runners/files.ts';
import { rowsOf, TYPES } from '../statement-rows.ts';
import { temporaryFolder } from '../world.ts';

/** Calls of `Statements` that return rows. */
const READS = new Set(['get', 'all', 'each']);

/** What the comment of a statement says of its rows; undefined if there is none of this name. */
function columnsOf(statement: string): Map<string, string | undefined> | undefined {
  const path = ['catalog', 'catalog/postgres', 'usage'].map((folder) => `${folder}/${statement}`).find(hasSql);
  return path === undefined ? undefined : new Map(rowsOf(sqlText(path)));
}

/** The type of a row: of `Promise<Row | undefined>`, `Promise<Row[]>` and `AsyncIterable<readonly Row[]>`. */
function rowOf(checker: Checker, returned: Type): Type {
  const [inner] = returned.isTypeReference() ? checker.getTypeArguments(returned) : [];
  const row = checker.getNonNullableType(inner ?? returned)!;
  return checker.isArrayLikeType(row) && row.isTypeReference() ? checker.getTypeArguments(row)[0]! : row;
}

t.test('the types of rows in the code are those of their statements', async (t) => {
  const config = join(temporaryFolder(t), 'tsconfig.json');
  const files = globSync('server/catalog/**/*.ts', { cwd: ROOT }).map((file) => join(ROOT, file));
  writeFileSync(config, JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), files, include: [] }));
  const api = new API({ cwd: ROOT });
  t.teardown(() => api.close());
  const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
  const { checker, program } = project!;
  // Of integers that are not exact as a number, bigints.
  const types = {
    string: [checker.getStringType()],
    number: [checker.getNumberType(), checker.getBigIntType()],
  };
  const isOf = (type: keyof typeof types, value: Type): boolean =>
    (value.isUnionType() ? value.getTypes() : [value]).every((one) =>
      types[type].some((each) => checker.isTypeAssignableTo(one, each)),
    );
  const wrong: string[] = [];
  const taken = new Map<string, Set<string>>();
  const look = (statement: string, row: Type): void => {
    const columns = columnsOf(statement);
    if (columns === undefined) return;
    const found = taken.get(statement) ?? new Set();
    taken.set(statement, found);
    for (const property of checker.getPropertiesOfType(row)) {
      const name = property.name;
      found.add(name);
      const type = TYPES[columns.get(name) ?? ''];
      const value = checker.getNonNullableType(checker.getTypeOfSymbol(property)!)!;
      if (type === undefined) wrong.push(`${statement} has no column ${name}`);
      else if (!isOf(type, value))
        wrong.push(`${name} of ${statement} is a ${type}, not ${checker.typeToString(value)}`);
    }
  };
  for (const file of files) {
    const visit = (node: Node): void => {
      const [statement] = isCallExpression(node) ? node.arguments : [];
      if (
        isCallExpression(node) &&
        isPropertyAccessExpression(node.expression) &&
        READS.has(node.expression.name.text) &&
        statement !== undefined &&
        isStringLiteral(statement)
      ) {
        const signature = checker.getResolvedSignature(node)!;
        look(statement.text, rowOf(checker, checker.getReturnTypeOfSignature(signature)!));
      }
      node.forEachChild(visit);
    };
    visit(program.getSourceFile(file)!);
  }
  t.ok(taken.size > 140, `${taken.size} statements`);
  t.strictSame(wrong, [], 'every column that is taken is there');
  const unused = [...taken].flatMap(([statement, names]) =>
    names.size === 0
      ? []
      : [...columnsOf(statement)!.keys()]
          // `entityOf` takes all fields of an entity.
          .filter((name) => !names.has(name) && !name.endsWith('_fields}'))
          .map((name) => `${statement} ${name}`),
  );
  // The connection that reads the version takes it from the same row.
  t.strictSame(unused, ['database.version schema'], 'every column that is there is taken');
});
