import type { Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { SEARCH_TYPES, type SearchType } from '../model/surfaces.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { SourceFile } from './files.ts';
import { isSameProperty } from './property.ts';

/**
 * Columns of connectors that are neither dimensions nor measures but say what the rows are about, in lower case without
 * separators.
 */
const SCOPES = {
  type: ['searchtype', 'type'],
  property: ['siteurl', 'site', 'property', 'website'],
  aggregation: ['aggregationtype', 'responseaggregationtype'],
} as const;
type Scope = keyof typeof SCOPES;

/**
 * Columns that cannot change the numbers: when and by what a row was written, what our own CSV adds to them, and what
 * follows from its date, page or query.
 */
const HARMLESS =
  /^(_(airbyte|fivetran|sdc|dlt|hevo|rivery|etl).*|(fetched|extracted|loaded|synced|inserted|imported|ingested|created|updated|retrieved|processed)(at|on|time|date)|datastate|(comparison|change|unsafe)(clicks|impressions|ctr|position).*|index|unnamed:?\d+|rowid|rownumber)$/;
const FROM_DATE = /^(year|quarter|month|week|weekday|dayofweek|dayofmonth|yearmonth)$/;
const FROM_QUERY = /^(branded|trackedkeywordid)$/;
const FROM_PAGE = /^(host|hostname|path|pagepath|directory|subdomain)$/;

/** The columns of a file besides dimensions and measures, by their names in SQL. */
export interface OtherColumns {
  readonly scopes: ReadonlyMap<Scope, string>;
  /** Headers of columns that are not read because they cannot change the numbers. */
  readonly ignored: readonly string[];
  /** Columns that are not known, or twice the same. */
  readonly unknown: readonly string[];
}

function plain(header: string): string {
  return header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]|(?<=.)_/g, '');
}

/**
 * Sorts the columns that are not read.
 * @param read names in SQL of the columns that are read
 * @param has whether the rows have a date, a page and a query; `named`: headers that the caller declares to be without
 *   meaning
 */
export function otherColumns(
  headers: readonly string[],
  read: ReadonlySet<string>,
  has: { date: boolean; page: boolean; query: boolean; named: readonly string[] },
): OtherColumns {
  const scopes = new Map<Scope, string>();
  const ignored: string[] = [];
  const unknown: string[] = [];
  for (const [index, header] of headers.entries()) {
    const column = `c${index}`;
    if (read.has(column)) continue;
    const name = plain(header);
    const scope = (Object.keys(SCOPES) as Scope[]).find((one) => (SCOPES[one] as readonly string[]).includes(name));
    const isHarmless =
      HARMLESS.test(name) ||
      (has.date && FROM_DATE.test(name)) ||
      (has.page && FROM_PAGE.test(name)) ||
      (has.query && FROM_QUERY.test(name));
    if (has.named.includes(header) || isHarmless) ignored.push(header);
    else if (scope !== undefined && !scopes.has(scope)) scopes.set(scope, column);
    else unknown.push(column);
  }
  return { scopes, ignored, unknown };
}

/** The values of a column of `typed_rows`, trimmed, in order; at most so many. */
async function valuesOf(session: Session, column: string, max: number): Promise<{ value: string; rows: number }[]> {
  return session.rows(sqlTemplate('import/column_values', { column, max: String(max) }));
}

/** Refuses columns whose meaning is unknown, unless they are empty. Returns the headers of those. */
export async function refuseUnknown(
  session: Session,
  file: SourceFile,
  headers: readonly string[],
  unknown: readonly string[],
): Promise<string[]> {
  const empty: string[] = [];
  for (const column of unknown) {
    const header = headers[Number(column.slice(1))]!;
    const values = await valuesOf(session, column, 2);
    if (values.every(({ value }) => value === '')) {
      empty.push(header);
      continue;
    }
    const example = values.find(({ value }) => value !== '')!.value.slice(0, 100);
    const name = header === '' ? `column ${Number(column.slice(1)) + 1}, which has no name,` : `the column '${header}'`;
    throw new ImportRefused(
      `'${file.name}' has ${name} (such as '${example}'), which is not known: its rows may be a part of the property's, or of something else. If it does not change what its rows count, name it with --ignore-column '${header}'.`,
    );
  }
  return empty;
}

/** Refuses rows of other properties, and numbers that are added up in another way than those of the table. */
export async function refuseOtherScopes(
  session: Session,
  file: SourceFile,
  headers: readonly string[],
  { scopes, isOfPages, property, force }: ScopeRules,
): Promise<void> {
  const header = (column: string): string => headers[Number(column.slice(1))]!;
  const site = scopes.get('property');
  if (site !== undefined) {
    const values = (await valuesOf(session, site, 100)).filter(({ value }, _, all) => value !== '' || all.length > 1);
    const other = values.find(({ value }) => !isSameProperty(value, property));
    if (other !== undefined && (!force || values.length > 1)) {
      throw new ImportRefused(
        `'${file.name}' has ${other.rows} rows of '${other.value}' in '${header(site)}', not of '${property}': import the rows of one property, ${
          values.length > 1 ? 'each from its own file' : 'under its name, or add --force'
        }.`,
      );
    }
  }
  const aggregation = scopes.get('aggregation');
  if (aggregation === undefined) return;
  const allowed = ['', 'auto', isOfPages ? 'bypage' : 'byproperty'];
  const other = (await valuesOf(session, aggregation, 100)).find(({ value }) => !allowed.includes(plain(value)));
  if (other === undefined) return;
  throw new ImportRefused(
    `'${file.name}' has ${other.rows} rows with '${other.value}' in '${header(aggregation)}'; numbers ${
      isOfPages ? 'of pages are counted by page' : 'without pages are counted by property'
    }.`,
  );
}

interface ScopeRules {
  readonly scopes: ReadonlyMap<Scope, string>;
  readonly isOfPages: boolean;
  readonly property: string;
  readonly force: boolean;
}

/** SQL of the search type of a row; null for one that is not known. Tables without types are of web. */
export function typeCast(column: string | undefined): string {
  if (column === undefined) return "'web'";
  const cases = SEARCH_TYPES.map((type) => `when '${type.toLowerCase()}' then '${type}'`).join(' ');
  return `case regexp_replace(lower(coalesce(trim(${column}), '')), '[\\s_-]', '', 'g') when '' then 'web' ${cases} end`;
}

/** The search types of typed rows. */
export async function typesOf(
  session: Session,
  file: SourceFile,
  headers: readonly string[],
  column: string | undefined,
): Promise<SearchType[]> {
  if (column === undefined) return ['web'];
  const values = await valuesOf(session, column, 100);
  if (values.every(({ value }) => value === '')) return ['web'];
  const known: readonly string[] = SEARCH_TYPES.map((type) => type.toLowerCase());
  const wrong = values.find(({ value }) => !known.includes(plain(value)));
  if (wrong !== undefined) {
    throw new ImportRefused(
      `'${file.name}' has ${wrong.rows} rows with '${wrong.value}' in '${headers[Number(column.slice(1))]}', which is no search type; known are ${SEARCH_TYPES.join(', ')}.`,
    );
  }
  return SEARCH_TYPES.filter((type) => values.some(({ value }) => plain(value) === type.toLowerCase()));
}

/** Rows after which a table with one country or device is more probably filtered than of a site that has no other. */
const MANY_ROWS = 20;

/** Refuses a table whose rows all have one country or device, which is what a filter leaves. Returns a remark on a short one. */
export async function refuseParts(
  session: Session,
  file: SourceFile,
  dimensions: readonly string[],
  isUnfiltered: boolean,
): Promise<string[]> {
  if (isUnfiltered) return [];
  const remarks: string[] = [];
  for (const dimension of ['country', 'device'].filter((one) => dimensions.includes(one))) {
    const [only, another] = await valuesOf(session, dimension, 2);
    if (only === undefined || another !== undefined) continue;
    const all = `all rows are of the ${dimension} '${only.value}'`;
    if (only.rows < MANY_ROWS) {
      remarks.push(`${all}; if that was a filter, totals are those of a part`);
      continue;
    }
    throw new ImportRefused(
      `'${file.name}': ${all}, as after a filter, and would be taken for the whole site. Import all of them, or add --unfiltered if there was no filter.`,
    );
  }
  return remarks;
}

/** A remark on columns that are not read. */
export function ignoring(headers: readonly string[]): string[] {
  if (headers.length === 0) return [];
  const names = headers.map((header) => (header === '' ? 'one without a name' : header)).join(', ');
  return [`columns that do not change the numbers, not read: ${names}`];
}
