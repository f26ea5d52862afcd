// The snapshot reference in docs/snapshot.md and `ordinate describe` matches the loader.
import { join } from 'node:path';
import t from 'tap';
import { FACTS } from '../../server/load/fact-tables.ts';
import { describeTables, exampleCsv, referenceMarkdown, type TableReference } from '../../server/load/reference.ts';
import { ENTITIES } from '../../server/load/tables.ts';
import { command } from '../command.ts';
import { checkGenerated } from '../docs/generated.ts';
import { temporaryFolder } from '../world.ts';
import { writeFiles } from './snapshots.ts';

t.test('docs/snapshot.md has every table as the loader reads it', (t) => {
  checkGenerated(t, 'docs/snapshot.md', 'tables', referenceMarkdown());
  t.end();
});

t.test('every column is described, and no other', (t) => {
  const tables = describeTables();
  t.strictSame(
    tables.map(({ table, columns }) => [table, columns.map(({ name }) => name)]),
    [...ENTITIES, ...FACTS].map(({ name, columns }) => [name, columns.map((column) => column.name)]),
  );
  for (const { table, about, columns, example } of tables) {
    t.match(about, /\.$/, table);
    for (const column of columns) {
      t.match(column.about, /\.$|^`/, `${table}.${column.name}`);
      if (column.required) t.ok(column.name in example, `the example has ${table}.${column.name}`);
    }
    t.strictSame(
      Object.keys(example).filter((name) => !columns.some((column) => column.name === name)),
      [],
    );
  }
  const of = (table: string, column: string) =>
    tables.find((one) => one.table === table)?.columns.find(({ name }) => name === column);
  t.match(of('projects', 'brand_terms'), { type: 'VARCHAR[]', required: false, default: '[]' });
  t.match(of('keywords', 'source'), { type: 'VARCHAR', required: false, default: 'import', values: /suggested/ });
  t.match(of('site_daily', 'date'), { type: 'DATE', required: true, default: null });
  t.end();
});

t.test('the examples are a snapshot that loads', async (t) => {
  const files = Object.fromEntries(describeTables().map((table) => [`${table.table}.csv`, exampleCsv(table)]));
  const dataFolder = join(temporaryFolder(t), 'data');
  const { code, stdout, stderr } = await command({ ORDINATE_DATA: dataFolder }, 'load', writeFiles(t, files), '--json');
  t.match({ code, stderr }, { code: 0, stderr: /^Created the data folder .+\n$/ });
  const { loaded, tables, warnings } = JSON.parse(stdout) as {
    loaded: boolean;
    tables: Record<string, { rows: number }>;
    warnings: string[];
  };
  t.strictSame([loaded, warnings], [true, []]);
  t.strictSame(
    Object.entries(tables).map(([table, { rows }]) => [table, rows]),
    describeTables().map(({ table }) => [table, 1]),
  );
});

t.test('ordinate describe', async (t) => {
  const settings = { ORDINATE_DATA: join(temporaryFolder(t), 'data') };
  const tables = JSON.parse((await command(settings, 'describe', '--json')).stdout) as unknown[];
  t.strictSame(tables, JSON.parse(JSON.stringify(describeTables())));
  const alerts = JSON.parse((await command(settings, 'describe', 'alerts', '--json')).stdout) as unknown;
  t.strictSame(
    [alerts],
    tables.filter((one) => (one as TableReference).table === 'alerts'),
  );
});
