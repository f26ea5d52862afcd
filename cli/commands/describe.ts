import { type Command, InvalidArgumentError } from 'commander';
import { describeTables, exampleCsv, type TableReference } from '../../server/load/reference.ts';
import { print, printJson } from '../cli.ts';
import { examples } from '../help.ts';

export function addDescribe(program: Command): void {
  program
    .command('describe')
    .description('print the tables of a snapshot, or one with its columns, types, defaults and an example')
    .argument('[table]', 'one of the tables', readTable)
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('describe', 'describe site_daily'))
    .action((table: TableReference | undefined, { json }: { json?: boolean }) => {
      if (json) printJson(table ?? describeTables());
      else if (table === undefined) printTables();
      else printOne(table);
    });
}

function printTables(): void {
  for (const kind of ['entities', 'facts'] as const) {
    print(
      kind === 'entities' ? 'Entities: rows replace those with the same key.' : '\nFacts: a load replaces whole days.',
    );
    const tables = describeTables().filter((table) => table.kind === kind);
    printAligned(tables.map(({ table, key }) => [table, `key ${key.join(', ')}`]));
  }
  print('\n`ordinate describe TABLE` prints the columns of one.');
}

function printOne(table: TableReference): void {
  print(`${table.table}: ${table.about}\nKey: ${table.key.join(', ')}\n`);
  printAligned(
    table.columns.map(({ name, type, required, default: fallback, values }) => [
      name,
      type,
      required ? 'required' : `default ${fallback ?? 'null'}`,
      values,
    ]),
  );
  print('');
  printAligned(table.columns.map(({ name, about }) => [name, about]));
  print(`\nExample, ${table.table}.csv:\n${exampleCsv(table).trimEnd()}`);
}

function printAligned(rows: readonly (readonly string[])[]): void {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    print(
      `  ${row
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd()}`,
    );
}

function readTable(name: string): TableReference {
  const tables = describeTables();
  const found = tables.find(({ table }) => table === name);
  if (found === undefined) {
    throw new InvalidArgumentError(
      `There is no such table; tables are ${tables.map(({ table }) => table).join(', ')}.`,
    );
  }
  return found;
}
