import { byTable, COLUMNS, type FactTable, measureOf, type StoredTable, TABLES } from '../../model/tables.ts';
import { sqlTemplate } from '../../runtime/sql.ts';
import { literal } from './literal.ts';

const DAYS = Array.from({ length: 31 }, (_, index) => index + 1);
const SUMS = TABLES.keyword_daily.measures;

/** The columns of the files of a fact table. */
function columnsOfFacts(table: FactTable): string[] {
  const { key, measures } = TABLES[table];
  const counted = measures.map((name) => `${name} ${measureOf(name).type === 'amount' ? 'decimal(18,2)' : 'bigint'}`);
  return [...key.map((name) => `${name} ${COLUMNS[name].stored}`), ...counted];
}

function bigints(names: readonly string[]): string[] {
  return names.map((name) => `${name} bigint`);
}

/** The columns of each table's files, and their types in Trino. */
export const TRINO_TABLES = {
  ...byTable(columnsOfFacts),
  keyword_all: ['device varchar', 'keyword_id varchar', 'date date', ...bigints(SUMS)],
  keyword_running: ['device varchar', 'keyword_id varchar', 'number bigint', 'date date', ...bigints(SUMS)],
  keyword_cumulative: ['number double', ...SUMS.flatMap((name) => DAYS.map((day) => `${name}_${day} double`))],
} as const satisfies Readonly<Record<StoredTable, readonly string[]>>;

export type TrinoTable = keyof typeof TRINO_TABLES;

/** The names of the columns of a table's files. */
export function columnsOf(table: TrinoTable): string[] {
  return TRINO_TABLES[table].map((column) => column.replace(/ .*/, ''));
}

/** The table of a stored file, from its name. */
export function tableOfFile(file: string): TrinoTable {
  const [, table = ''] = file.split('/');
  if (!Object.hasOwn(TRINO_TABLES, table)) throw new Error(`'${file}' is not a file of a fact table`);
  return table as TrinoTable;
}

/**
 * The statements that define the schema and its tables in Trino.
 * @param storage `s3://BUCKET/PREFIX`, without a slash at its end
 */
export function tableDefinitions(storage: string, { catalog, schema }: { catalog: string; schema: string }): string[] {
  const name = (table?: string): string => [catalog, schema, ...(table ? [table] : [])].map(quoted).join('.');
  const location = (folder: string): string => literal(`${storage}/${folder}`);
  return [
    definition('schema', { schema: name(), location: location('trino') }),
    ...Object.entries(TRINO_TABLES).map(([table, columns]) =>
      definition('table', {
        table: name(table),
        columns: columns.map((column) => column.replace(/^\w+/, quoted)).join(',\n  '),
        location: location(`facts/${table}`),
        template: location(`facts/${table}/\${project_id}`),
      }),
    ),
  ];
}

/** A statement without its comment. */
function definition(name: string, fills: Readonly<Record<string, string>>): string {
  return sqlTemplate(`trino/ddl/${name}`, fills).replaceAll(/^--.*\n/gm, '');
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
