import { sqlTemplate } from '../../runtime/sql.ts';

/** A value of a statement. Lists are texts. */
type TrinoValue = string | number | boolean | null | readonly string[];
export type TrinoValues = Readonly<Record<string, TrinoValue>>;

/** A parameter in a statement, `$name`; `"$path"` is a column of Trino. */
const PARAMETER = /(\bin \()?(?<!")\$(\w+)/g;

/**
 * The text to send for `sql/trino/NAME.sql`. Trino has no bound values in its protocol; it takes them as literals after
 * the statement, which itself has none of them.
 * @param parts see `sqlTemplate`
 */
export function trinoStatement(
  name: string,
  values: TrinoValues,
  parts: Readonly<Record<string, string>> = {},
): string {
  const literals: string[] = [];
  const template = sqlTemplate(`trino/${name}`, parts).replaceAll(/^--.*\n/gm, '');
  const text = template.replaceAll(PARAMETER, (_, asList: string | undefined, parameter: string) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`sql/trino/${name}.sql needs $${parameter}`);
    if (asList === undefined || !isList(value)) {
      literals.push(literal(value));
      return `${asList ?? ''}?`;
    }
    // One placeholder for each, so that Trino reads only these partitions and files.
    literals.push(...value.map(literal));
    return `${asList}${value.map(() => '?').join(', ')}`;
  });
  return `execute immediate ${literal(text)}${literals.length > 0 ? ` using ${literals.join(', ')}` : ''}`;
}

/** A value as a literal of Trino's SQL. */
export function literal(value: TrinoValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a whole number that is exact`);
    return `bigint '${value}'`;
  }
  // A constructor of arrays takes 254 values at most.
  return `cast(json_parse(${literal(JSON.stringify(value))}) as array(varchar))`;
}

function isList(value: TrinoValue): value is readonly string[] {
  return typeof value === 'object' && value !== null;
}
