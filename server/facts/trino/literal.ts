import type { FactsValue } from '../reader.ts';

/** A value as a literal of Trino's SQL. */
export function literal(value: FactsValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a whole number that is exact`);
    return `bigint '${value}'`;
  }
  // An array constructor takes at most 254 values.
  return `cast(json_parse(${literal(JSON.stringify(value))}) as array(varchar))`;
}
