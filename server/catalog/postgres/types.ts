import type { CustomTypesConfig } from 'pg';

type Parser = (text: string) => unknown;

/** A number if that is exact, else a bigint. */
function toInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** By the oid of a type, which never changes: `select oid, typname from pg_type`. Other types stay text. */
const PARSERS: Readonly<Record<number, Parser>> = {
  // bool, 0 or 1 in SQLite
  16: (text) => (text === 't' ? 1 : 0),
  // bytea
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  // int8, int2, int4
  20: toInteger,
  21: Number,
  23: Number,
  // float4, float8, numeric
  700: Number,
  701: Number,
  1700: Number,
};

const asText: Parser = (text) => text;

/** Converts values of rows to SQLite's types. */
export const TYPES = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? asText,
} as CustomTypesConfig;
