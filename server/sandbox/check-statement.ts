/** A statement is not allowed; the message says why, for the client. */
export class RefusedStatement extends Error {}

/** Table functions that make rows from their arguments alone. */
const TABLE_FUNCTIONS = new Set([
  'range',
  'generate_series',
  'unnest',
  'json_each',
  'json_tree',
  'repeat',
  'repeat_row',
]);

/** Functions that show or change more than their arguments: settings, other statements, the log, the time, the insides. */
const REFUSED_FUNCTIONS =
  /^(?:current_setting|getvariable|getenv|current_query.*|current_connection_id|current_transaction_id|txid_current|write_log|parse_duckdb_log_message|json_serialize_(?:plan|sql)|json_deserialize_sql|json_execute.*|nextval|currval|(?:pg_)?sleep(?:_ms)?|in_search_path|get_block_size|pg_.*|has_.*_privilege|inet_.*|.*_description|format_pg_type|map_to_pg_oid|__internal_.*|query|query_table|combine|finalize|stats|vector_type)$/;

/** Names of views of the database's catalog, which no name of a statement may hide. */
const OF_THE_DATABASE = /^(?:duckdb|pg|pragma|sqlite)_/;

/** The parts of a query besides expressions. Others, such as `SHOW_REF`, are refused. */
const PARTS = new Set([
  ...['SELECT_NODE', 'SET_OPERATION_NODE', 'RECURSIVE_CTE_NODE', 'CTE_NODE'],
  ...['BASE_TABLE', 'SUBQUERY', 'JOIN', 'TABLE_FUNCTION', 'EXPRESSION_LIST', 'EMPTY', 'EMPTY_FROM', 'PIVOT'],
  ...['ORDER_MODIFIER', 'LIMIT_MODIFIER', 'DISTINCT_MODIFIER', 'LIMIT_PERCENT_MODIFIER'],
  ...['ORDER_DEFAULT', 'ASCENDING', 'DESCENDING'],
]);

type Node = Readonly<Record<string, unknown>>;

/**
 * Checks a parsed statement, as DuckDB's `json_serialize_sql` writes it: that it reads only the known tables and what it
 * defines itself. Returns the known tables that it names. Throws `RefusedStatement`.
 */
export function checkStatement(statement: unknown, known: ReadonlySet<string>): Set<string> {
  const named = new Set<string>();
  try {
    walk(statement, new Set());
  } catch (error) {
    if (error instanceof RangeError) throw new RefusedStatement('The statement is nested too deeply.');
    throw error;
  }
  return named;

  /** @param defined names of common table expressions that are visible here */
  function walk(value: unknown, defined: ReadonlySet<string>): void {
    if (Array.isArray(value)) {
      for (const item of value) walk(item, defined);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    checkNode(node, defined);
    let visible = defined;
    const { cte_map: ctes, ...others } = node;
    for (const { key, value: cte } of ((ctes as Node | undefined)?.['map'] ?? []) as { key: string; value: Node }[]) {
      walk(cte, visible);
      visible = define(key, visible);
    }
    const { cte_name: name, left, query, ...parts } = others;
    // These do not see the name: the first part of a recursive table reads another one of this name.
    walk([left, query], visible);
    if (typeof name === 'string') visible = define(name, visible);
    walk(Object.values(parts), visible);
  }

  function define(text: string, defined: ReadonlySet<string>): ReadonlySet<string> {
    const name = text.toLowerCase();
    if (OF_THE_DATABASE.test(name)) throw new RefusedStatement(`The name '${name}' is one of the database.`);
    return new Set([...defined, name]);
  }

  function checkNode(node: Node, defined: ReadonlySet<string>): void {
    const { type } = node;
    if (typeof type === 'string' && node['class'] === undefined && 'type' in node && isPart(node) && !PARTS.has(type)) {
      throw new RefusedStatement(`The statement has a part that SQL here does not have: ${type}.`);
    }
    if (type === 'BASE_TABLE') checkTable(node, defined);
    if (typeof node['function_name'] === 'string') checkFunction(node['function_name'].toLowerCase());
    if (type === 'TABLE_FUNCTION') {
      const name = (node['function'] as { function_name?: string } | undefined)?.function_name?.toLowerCase() ?? '';
      if (!TABLE_FUNCTIONS.has(name)) {
        throw new RefusedStatement(
          `The table function '${name}' is not available; those are ${[...TABLE_FUNCTIONS].join(', ')}.`,
        );
      }
    }
  }

  function checkTable(node: Node, defined: ReadonlySet<string>): void {
    const name = String(node['table_name']).toLowerCase();
    if (node['schema_name'] || node['catalog_name']) {
      throw new RefusedStatement('Tables are named without a schema or a database.');
    }
    if (defined.has(name)) return;
    if (!known.has(name)) {
      throw new RefusedStatement(`There is no table '${name}'; the tables are ${[...known].join(', ')}.`);
    }
    named.add(name);
  }

  function checkFunction(name: string): void {
    if (REFUSED_FUNCTIONS.test(name)) throw new RefusedStatement(`The function '${name}' is not available.`);
  }
}

/** Whether an object is a part of a query: values, types and orders of expressions have a type too. */
function isPart(node: Node): boolean {
  const { type } = node;
  return typeof type === 'string' && /^[A-Z_]+(?<!_TYPE_INFO)$/.test(type) && !('id' in node) && !('value' in node);
}
