import { WORDS } from '../catalog/entities.ts';
import { sqlNames, sqlText } from '../runtime/sql.ts';

/** The type of a snapshot column. `cast` returns null for an invalid value. */
export interface ColumnType {
  /** The DuckDB type of the snapshot column. */
  readonly name: string;
  /** The DuckDB type of the cast value. */
  readonly sql: 'varchar' | 'bigint' | 'date' | 'boolean' | 'decimal(18,2)';
  readonly cast: (expression: string) => string;
  /** Describes valid values in error messages. */
  readonly expected: string;
  /** The value may be an object or a list in NDJSON. */
  readonly structured?: boolean;
}

function type(sql: ColumnType['sql'], macro: string, expected: string, name = sql.toUpperCase()): ColumnType {
  return { name, sql, cast: (expression) => `${macro}(${expression})`, expected };
}

function choice(...words: readonly string[]): ColumnType {
  const list = words.map((word) => `'${word}'`).join(', ');
  return {
    name: 'VARCHAR',
    sql: 'varchar',
    cast: (expression) => `to_choice(${expression}, [${list}])`,
    expected: `one of ${words.join(', ')}`,
  };
}

const JSON_TEXT: ColumnType = {
  ...type('varchar', 'to_json_text', 'a JSON text of at most 64 kB', 'JSON'),
  structured: true,
};

/** The types of the snapshot format. Each macro is a file in `sql/load/types/`. */
export const COLUMN_TYPES = {
  text: type('varchar', 'to_text', 'a text of at most 64 kB'),
  words: type('varchar', 'to_nonblank_text', 'a text that is not empty, of at most 64 kB'),
  shortId: type('varchar', 'to_short_id', 'five letters or digits'),
  uuid: type('varchar', 'to_uuid', 'a UUID', 'UUID'),
  order: type('bigint', 'to_order', 'a 32-bit whole number', 'INTEGER'),
  historyDays: type('bigint', 'to_history', 'a whole number from 1 to 365000', 'INTEGER'),
  measure: type('bigint', 'to_measure', 'a whole number from 0 to 9007199254740991'),
  positionSum: type(
    'bigint',
    'to_measure',
    'a whole number from 0 to 9007199254740991: the sum of the positions of all impressions, counted from zero, and not an average',
  ),
  amount: type('decimal(18,2)', 'to_amount', 'a number from 0 to 90071992547409.91 with at most two decimals'),
  day: type('date', 'to_day', 'a calendar day (YYYY-MM-DD)'),
  factDay: type('date', 'to_fact_day', 'a calendar day (YYYY-MM-DD) from 1990 to tomorrow (UTC)'),
  factMonth: type('date', 'to_fact_month', 'the first day of a month (YYYY-MM-01) from 1990 to tomorrow (UTC)'),
  instant: type('bigint', 'to_instant', 'a time in UTC from 1900 to 2199, such as 2026-11-20T04:21:37Z', 'TIMESTAMP'),
  pastInstant: type(
    'bigint',
    'to_past_instant',
    'a time in UTC from 1900 to tomorrow, such as 2026-11-20T04:21:37Z',
    'TIMESTAMP',
  ),
  flag: type('boolean', 'to_flag', 'true or false'),
  country: type('varchar', 'to_country', 'a country code of three lower-case letters'),
  countryOrOther: type('varchar', 'to_country_or_other', "a country code of three lower-case letters, or 'other'"),
  language: type('varchar', 'to_language', 'a language code of two lower-case letters'),
  appearance: type('varchar', 'to_appearance', 'an upper-case identifier such as PRODUCT_SNIPPETS'),
  url: type('varchar', 'to_url', 'an absolute URL of at most 64 kB'),
  groupRule: JSON_TEXT,
  alertRule: JSON_TEXT,
  textList: {
    ...type('varchar', 'to_text_list', 'a list of texts (in csv a JSON array) of at most 1 MB', 'VARCHAR[]'),
    structured: true,
  },
  device: choice('desktop', 'mobile', 'tablet'),
  siteDevice: choice('desktop', 'mobile', 'tablet', 'unknown'),
  segment: choice('brand', 'non_brand', 'unknown'),
  syncStatus: choice(...WORDS.syncStatus),
  source: choice(...WORDS.source),
  intent: choice(...WORDS.intent),
  groupKind: choice(...WORDS.groupKind),
  severity: choice(...WORDS.severity),
  noteScope: choice(...WORDS.noteScope),
  noteCategory: choice(...WORDS.noteCategory),
};

export type ColumnTypeName = keyof typeof COLUMN_TYPES;

/** The SQL that creates only the macros these types use, directly or indirectly: each takes time to create. */
export function macrosOf(types: Iterable<ColumnType>): string[] {
  const macros = sqlNames('load/types').map((name) => ({
    name: name.slice(name.lastIndexOf('/') + 1),
    text: sqlText(name),
  }));
  const needed = new Set(['as_shown']);
  const addMacros = (text: string): void => {
    for (const { name, text: its } of macros) {
      if (needed.has(name) || !text.includes(`${name}(`)) continue;
      needed.add(name);
      addMacros(its);
    }
  };
  for (const type of types) addMacros(type.cast('x'));
  return macros.filter(({ name }) => needed.has(name)).map(({ text }) => text);
}
