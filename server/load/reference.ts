import { ENTITY_RULES, type EntityName } from '../catalog/entities.ts';
import { columnOf, type FactTable, MEASURES, type MeasureName, TABLES } from '../model/tables.ts';
import { FACTS } from './fact-tables.ts';
import { type Column, ENTITIES, type EntityTable, type FactTableSchema } from './tables.ts';

/** A table of the snapshot format, for the reference and `ordinate describe`. */
export interface TableReference {
  readonly table: string;
  readonly kind: 'entities' | 'facts';
  readonly about: string;
  readonly key: readonly string[];
  readonly columns: readonly ColumnReference[];
  /** An example row; omitted columns have their default. */
  readonly example: Readonly<Record<string, unknown>>;
}

interface ColumnReference {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** The value used for null or a missing column; null if there is no default. */
  readonly default: string | null;
  /** Valid values. */
  readonly values: string;
  readonly about: string;
}

/** All tables of a snapshot; each refers only to earlier ones. */
export function describeTables(): TableReference[] {
  return [
    ...ENTITIES.map((schema) => describe(schema, 'entities', helpOfEntity(schema.name))),
    ...FACTS.map((schema) => describe(schema, 'facts', helpOf(schema.name))),
  ];
}

function describe(
  { name, key, columns }: EntityTable | FactTableSchema,
  kind: TableReference['kind'],
  help: TableHelp,
): TableReference {
  return {
    table: name,
    kind,
    about: help.about,
    key,
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type.name,
      required: !column.optional,
      default: defaultOf(name, column),
      values: column.type.expected,
      about: help.columns[column.name]!,
    })),
    example: help.example,
  };
}

/** Documentation of a snapshot table. */
interface TableHelp extends Pick<TableReference, 'about' | 'example'> {
  readonly columns: Readonly<Record<string, string>>;
}

function helpOfEntity(name: EntityName): TableHelp {
  const { about, fields, example } = ENTITY_RULES[name];
  const columns = Object.fromEntries(Object.entries(fields).map(([column, { help }]) => [column, help]));
  return { about, columns, example };
}

function helpOf(table: FactTable): TableHelp {
  const { about, key, measures, example } = TABLES[table];
  const of = key.map((name) => [name, columnOf(table, name)] as const);
  return {
    about,
    columns: {
      project_id: 'The project.',
      ...Object.fromEntries(of.map(([name, { help }]) => [name, help])),
      ...Object.fromEntries(measures.map((name) => [name, helpOfMeasure(table, name)])),
    },
    example: {
      project_id: 'Shop1',
      ...Object.fromEntries(of.map(([name, column]) => [name, column.example])),
      ...Object.fromEntries(measures.map((name) => [name, MEASURES[name].example])),
      ...example,
    },
  };
}

function helpOfMeasure(table: FactTable, name: MeasureName): string {
  const { help } = MEASURES[name];
  return name === 'sum_position' && TABLES[table].positions === 'some'
    ? `${help} Null if the position is unknown.`
    : help;
}

/** Descriptions of defaults that depend on other columns; `publish` computes them. */
const DERIVED: Readonly<Record<string, string>> = {
  'projects.sync_status': 'ok or pending',
  'keywords.intent': 'estimated',
};

/** A fallback is SQL: a quoted string or a keyword. */
function defaultOf(table: string, { name, fallback }: Column): string | null {
  return DERIVED[`${table}.${name}`] ?? fallback?.replace(/^'(.*)'$/, '$1') ?? null;
}

/** The example of a table as a CSV file. */
export function exampleCsv({ example }: TableReference): string {
  const field = (value: unknown): string => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${Object.keys(example).join(',')}\n${Object.values(example).map(field).join(',')}\n`;
}

/** The tables as sections of Markdown. */
export function referenceMarkdown(): string {
  return describeTables()
    .map((table) => {
      const rows = table.columns.map(
        ({ name, type, required, default: fallback, values, about }) =>
          `| \`${name}\` | ${type} | ${required ? 'required' : fallback === null ? 'null' : `\`${fallback}\``} | ${values} | ${about} |`,
      );
      return `### ${table.table}

${table.about} Key: ${table.key.map((name) => `\`${name}\``).join(', ')}.

| column | type | default | values | |
| --- | --- | --- | --- | --- |
${rows.join('\n')}

\`\`\`csv
${exampleCsv(table)}\`\`\`
`;
    })
    .join('\n');
}
