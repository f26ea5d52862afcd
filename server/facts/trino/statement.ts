import { sqlTemplate } from '../../runtime/sql.ts';
import type { FactsValue, FactsValues } from '../reader.ts';
import { toTrino } from './dialect.ts';
import { literal } from './literal.ts';
import type { TrinoTable } from './tables.ts';

/** A parameter in a statement, `$name`; `"$path"` is a column of Trino. */
const PARAMETER = /(\bin \()?(?<!")\$(\w+)/g;

/**
 * The text to send for `sql/NAME.sql` over files of a table. Trino's protocol has no bound values; they are sent as
 * literals after the statement.
 * @param fills see `sqlTemplate`
 */
export function trinoStatement(
  name: string,
  table: TrinoTable,
  values: FactsValues,
  fills: Readonly<Record<string, string>> = {},
): string {
  const literals: string[] = [];
  const template = toTrino(sqlTemplate(name, { table, ...fills }), table, values);
  const text = template.replaceAll(PARAMETER, (_, asList: string | undefined, parameter: string) => {
    const value = values[parameter];
    if (value === undefined) throw new Error(`sql/${name}.sql needs $${parameter}`);
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

function isList(value: FactsValue): value is readonly string[] {
  return typeof value === 'object' && value !== null;
}
