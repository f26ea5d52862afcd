import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { Day } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { packed } from '../load/tables.ts';
import { SEARCH_TYPES, type SearchType, SURFACES } from '../model/surfaces.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import {
  ignoring,
  type OtherColumns,
  otherColumns,
  refuseOtherScopes,
  refuseParts,
  refuseUnknown,
  typeCast,
  typesOf,
} from './columns.ts';
import type { SourceFile } from './files.ts';
import { refuseFutureDays } from './future-days.ts';
import { type ChartInterval, daysOfRows, intervalOf, NO_DAYS, type RowDay, type RowDays } from './row-days.ts';
import {
  DIMENSIONS,
  type Dimension,
  intervalOfHeader,
  isApiName,
  isFilterFile,
  MEASURES,
  type Measure,
  meaningOfFile,
  meaningOfHeader,
} from './words.ts';

/** Bytes in which a header must end. */
const HEAD = 65_536;
const LF = 0x0a;
const SEPARATORS = [',', ';', '\t'];
/** Rows that determine the meaning of columns. */
const SAMPLE = 100;
/** Maximum share of rows whose CTR is not clicks by impressions. */
const MAX_ODD_ROWS = 0.02;

/** A table of an export: the rows of a search type of a file. */
export interface ExportTable extends RowDays {
  readonly file: SourceFile;
  readonly type: SearchType;
  readonly dimensions: readonly Dimension[];
  /** Whether it was exported from the user interface. */
  readonly isFromInterface: boolean;
  /** Rows with data. */
  readonly rows: number;
  /** The interval of a chart's rows; `day` for all other tables. */
  readonly interval: ChartInterval;
  /** Its rows as Parquet, with typed columns. */
  readonly staged: string;
  /** What was not read, and what may be wrong. */
  readonly remarks: readonly string[];
}

/** A file that is not stored. */
export interface OtherFile {
  readonly file: SourceFile;
  readonly filters?: readonly (readonly [name: string, value: string])[];
  readonly remark: string;
}

/** What the caller knows of the files. */
export interface ReadOptions {
  readonly property: string;
  /** Allows rows of another property. */
  readonly force?: boolean;
  /** Headers of columns that do not change what rows count. */
  readonly ignoredColumns?: readonly string[];
  /** Says that tables of one country or device are whole. */
  readonly unfiltered?: boolean;
  /** The last day that rows may be about. */
  readonly last: Day;
  readonly isStored: (dimensions: readonly Dimension[], type: SearchType) => boolean;
}

/** SQL of each dimension's value; null for an invalid one. */
const CASTS: Readonly<Record<Dimension, (column: string) => string>> = {
  date: (c) => `try_cast(regexp_extract(trim(${c}), '^(\\d{4}-\\d{2}-\\d{2})([ T]00:00:00(\\.0+)?Z?)?$', 1) as date)`,
  query: (c) => `nullif(trim(${c}), '')`,
  page: (c) => `case when regexp_matches(trim(${c}), '^https?://\\S+$', 'i') then trim(${c}) end`,
  country: (c) => `case when regexp_full_match(trim(${c}), '[A-Za-z]{3}') then lower(trim(${c})) end`,
  device: (c) => `case when lower(trim(${c})) in ('desktop', 'mobile', 'tablet') then lower(trim(${c})) end`,
  appearance: (c) => `case when regexp_full_match(trim(${c}), '[A-Z][A-Z0-9_]*') then trim(${c}) end`,
};

const WANTED: Readonly<Record<Dimension | Measure, string>> = {
  date: 'a day written YYYY-MM-DD',
  query: 'a text',
  page: 'an absolute URL',
  country: 'a country code of three letters',
  device: 'desktop, mobile or tablet',
  appearance: 'an identifier such as PRODUCT_SNIPPETS',
  clicks: 'a whole number',
  impressions: 'a whole number',
  ctr: 'clicks by impressions',
  position: 'an average position of at least 1',
};

type Columns = ReadonlyMap<Dimension | Measure, string>;

/**
 * Reads a table into Parquet files, one for each search type. Throws `ImportRefused` for values that do not match their
 * headers, and for columns that may change what the rows count. Tables that cannot be stored are only inspected.
 * @param staged begins the paths of the files
 */
export async function readTable(
  session: Session,
  file: SourceFile,
  staged: string,
  options: ReadOptions,
): Promise<readonly (ExportTable | OtherFile)[]> {
  const { isStored } = options;
  const { separator, headers } = await readHead(file);
  const names = headers.map((_, index) => `c${index}`);
  const source = {
    columns: names.map((name) => `'${name}': 'VARCHAR'`).join(', '),
    separator: separator === '\t' ? '\\t' : separator,
  };
  const parameters = { file: patternOf(file.path) };
  const rowsOf = <Row>(name: string, parts = {}): Promise<Row[]> =>
    session.rows<Row>(sqlTemplate(`import/${name}`, { ...source, ...parts }), parameters).catch((cause: unknown) => {
      throw unreadable(file, cause);
    });
  const sample = await rowsOf<Record<string, string | null>>('sample', { limit: String(SAMPLE) });
  if (isFilterFile(file.base) && headers.length === 2) {
    const filters = sample.map(({ c0, c1 }) => [c0 ?? '', c1 ?? ''] as const);
    return [{ file, filters, remark: 'filters: none that matters' }];
  }
  const named = options.ignoredColumns ?? [];
  const columns = columnsOf(file, headers, sample, named);
  if (columns === undefined) return [{ file, remark: NO_TABLE }];
  const dimensions = DIMENSIONS.filter((dimension) => columns.has(dimension));
  const has = { date: columns.has('date'), page: columns.has('page'), query: columns.has('query'), named };
  const { scopes, ignored, unknown } = otherColumns(headers, new Set(columns.values()), has);
  if (!columns.has('position') && !scopes.has('type')) return [{ file, remark: NO_POSITIONS }];
  const isFromInterface = !headers.some(isApiName);
  const isChart = isFromInterface && dimensions.join() === 'date';
  const interval: ChartInterval = (isChart ? intervalOfHeader(headers[0]!) : undefined) ?? 'day';
  const table = { file, type: 'web' as const, dimensions, isFromInterface, interval, staged, remarks: [], ...NO_DAYS };
  if (!isStored(dimensions, 'web') || interval !== 'day') {
    const [{ rows } = { rows: 0 }] = await rowsOf<{ rows: number }>('count');
    return [{ ...table, rows }];
  }

  const query = columns.get('query');
  const [texts] = query === undefined ? [] : await rowsOf<Guarded>('guarded', { column: query });
  const isGuarded = texts !== undefined && texts.guarded > 0 && texts.formulas === 0;
  const typed = sqlTemplate('import/typed', { ...source, ...typedParts(columns, scopes, isGuarded) });
  await session.run(typed, parameters).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  const raw = columns.get('date');
  if (raw !== undefined) await refuseFutureDays(session, file, { raw, separator, last: options.last });
  const types = await typesOf(session, file, headers, scopes.get('type'));
  const days = new Map<SearchType, readonly RowDay[]>();
  for (const type of has.date ? types : []) {
    days.set(type, await session.rows<RowDay>(sqlTemplate('import/days', { type })));
  }
  if (has.date) await session.run(sqlTemplate('import/drop_empty', {}));
  const empty = await refuseUnknown(session, file, headers, unknown);
  const isOfPages = has.page;
  const { property, force = false, unfiltered = false } = options;
  await refuseOtherScopes(session, file, headers, { scopes, isOfPages, property, force });
  refuseTypes(file, types, columns, dimensions, isStored);
  await refuseWrongValues(session, file, columns, headers);
  await refuseRepeatedKeys(session, file, [...dimensions, ...(scopes.has('type') ? ['search_type'] : [])]);
  const remarks = [...ignoring([...ignored, ...empty]), ...(await refuseParts(session, file, dimensions, unfiltered))];
  const tables: ExportTable[] = [];
  for (const type of types) {
    const target = `${staged}-${type}.parquet`;
    const rows = await session.run(sqlTemplate('import/staged', { keys: dimensions.join(', '), type }), { target });
    const ofType = days.get(type) ?? [];
    const found = isChart ? intervalOf(ofType) : 'day';
    tables.push({ ...table, type, rows, staged: target, remarks, interval: found, ...daysOfRows(ofType) });
  }
  return tables;
}

const NO_TABLE = 'not a table of queries, pages, days, countries, devices or appearances';
const NO_POSITIONS =
  'not stored: it has no positions, as exports of Discover and Google News; a table with the column search_type says of which it is';

/** Texts of a column. Our own CSV, like others for spreadsheets, has an apostrophe before each that looks like a formula. */
interface Guarded {
  readonly formulas: number;
  readonly guarded: number;
}

const unguarded = (column: string): string => `regexp_replace(${column}, '^''([=+\\-@\\t\\r])', '\\1')`;

/** The parts of `typed.sql`. */
function typedParts(columns: Columns, scopes: OtherColumns['scopes'], isGuarded: boolean): Record<string, string> {
  const dimensions = DIMENSIONS.filter((dimension) => columns.has(dimension));
  const casts = dimensions.map((dimension) => {
    const column = columns.get(dimension)!;
    return `${CASTS[dimension](dimension === 'query' && isGuarded ? unguarded(column) : column)} as ${dimension}`;
  });
  const unplaced = SEARCH_TYPES.filter((type) => !SURFACES[type].hasQueries).map((type) => `'${type}'`);
  return {
    casts: casts.join(', '),
    clicks: columns.get('clicks')!,
    impressions: columns.get('impressions')!,
    position: columns.get('position') ?? 'null',
    ctr: columns.get('ctr') ?? 'null',
    type: typeCast(scopes.get('type')),
    unplaced: unplaced.join(', '),
  };
}

/** Of search types besides web, only days and countries are stored. */
function refuseTypes(
  { name }: SourceFile,
  types: readonly SearchType[],
  columns: Columns,
  dimensions: readonly Dimension[],
  isStored: ReadOptions['isStored'],
): void {
  const other = types.find((type) => !isStored(dimensions, type));
  if (other !== undefined) {
    throw new ImportRefused(
      `'${name}' has rows of the search type ${other} by ${dimensions.join(', ')}; of search types besides web, only days with their devices and countries are stored. Import its rows of web alone.`,
    );
  }
  const placed = types.find((type) => SURFACES[type].hasQueries);
  if (placed === undefined || columns.has('position')) return;
  throw new ImportRefused(`'${name}' has rows of the search type ${placed} without positions.`);
}

/** The separator and the header of a file. */
export async function readHead(file: SourceFile): Promise<{ separator: string; headers: string[] }> {
  await using handle = await open(file.path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const bytes = buffer.subarray(0, bytesRead);
  if (bytes.includes(0)) throw new ImportRefused(`'${file.name}' is UTF-16 or no text; save it as UTF-8.`);
  // The last line may end amid a character.
  if (!isUtf8(bytes.subarray(0, bytesRead < HEAD ? bytesRead : bytes.lastIndexOf(LF) + 1))) throw notUtf8(file);
  const [line = ''] = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  if (line.trim() === '') throw new ImportRefused(`'${file.name}' has no header.`);
  const split = SEPARATORS.map((separator) => ({ separator, headers: fieldsOf(line, separator) }));
  return split.reduce((best, one) => (one.headers.length > best.headers.length ? one : best));
}

/** Exports for spreadsheets of Windows, and files that they have saved again. */
function notUtf8({ name }: SourceFile, cause?: unknown): ImportRefused {
  return new ImportRefused(`'${name}' is not UTF-8, but Windows-1252 or another old encoding; save it as UTF-8.`, {
    cause,
  });
}

/** Explains why a file cannot be read as CSV. */
export function unreadable(file: SourceFile, cause: unknown): ImportRefused {
  const said = firstLine(cause);
  if (/invalid unicode|not utf-8/i.test(String(cause))) return notUtf8(file, cause);
  return new ImportRefused(`'${file.name}' cannot be read as CSV: ${said}`, { cause });
}

function fieldsOf(line: string, separator: string): string[] {
  const fields = line.match(new RegExp(`("(?:[^"]|"")*"|[^${separator}]*)(${separator}|$)`, 'g')) ?? [];
  // The last match is the empty one at the end.
  return fields.slice(0, -1).map((field) =>
    field
      .replace(new RegExp(`${separator}$`), '')
      .replaceAll(/^"|"$/g, '')
      .replaceAll('""', '"')
      .trim(),
  );
}

type SampleRow = Readonly<Record<string, string | null>>;

/** The column of each dimension and measure, perhaps without positions; undefined if it is no such table. */
function columnsOf(
  file: SourceFile,
  headers: readonly string[],
  sample: readonly SampleRow[],
  ignored: readonly string[],
): Columns | undefined {
  const columns = new Map<Dimension | Measure, string>();
  for (const [index, header] of headers.entries()) {
    const meaning = meaningOfHeader(header);
    if (meaning === undefined || ignored.includes(header)) continue;
    if (columns.has(meaning)) throw comparison(file, header);
    columns.set(meaning, `c${index}`);
  }
  // In unknown languages, columns of the user interface are identified by their order.
  const full = sample.filter((row) => (row['c3'] ?? '') !== '');
  const isRate = full.length > 0 && full.every(({ c3 }) => c3?.includes('%'));
  if (headers.length === MEASURES.length + 1 && isRate) {
    for (const [index, measure] of MEASURES.entries()) columns.set(measure, `c${index + 1}`);
  } else if (headers.length > MEASURES.length + 2 && !columns.has('clicks')) {
    throw comparison(file, headers[1] ?? '');
  }
  if (!columns.has('clicks') || !columns.has('impressions')) return undefined;
  if (!DIMENSIONS.some((dimension) => columns.has(dimension))) {
    const told =
      meaningOfFile(file.base) ??
      (intervalOfHeader(headers[0]!) ? 'date' : meaningOfValues(sample.map(({ c0 }) => c0 ?? '')));
    if (told === undefined) return undefined;
    columns.set(told, 'c0');
  }
  return columns;
}

function meaningOfValues(values: readonly string[]): Dimension | undefined {
  if (values.length === 0) return undefined;
  if (values.every((value) => /^\d{4}-\d{2}-\d{2}$/.test(value))) return 'date';
  return values.every((value) => /^https?:\/\//i.test(value)) ? 'page' : undefined;
}

function comparison({ name }: SourceFile, header: string): ImportRefused {
  return new ImportRefused(
    `'${name}' has more than one column of the same kind ('${header}'): a comparison of two ranges, perhaps. Export each range alone.`,
  );
}

/** Rejects the first invalid value. */
async function refuseWrongValues(
  session: Session,
  { name }: SourceFile,
  columns: Columns,
  headers: readonly string[],
): Promise<void> {
  const required = [...columns.keys()].filter((meaning) => meaning !== 'ctr');
  for (const meaning of required) {
    const part = { column: meaning === 'position' ? 'sum_position' : meaning, raw: columns.get(meaning)! };
    const [wrong] = await session.rows<{ rows: number; value: string }>(sqlTemplate('import/wrong', part));
    if (wrong === undefined || wrong.rows === 0) continue;
    const header = headers[Number(part.raw.slice(1))];
    throw new ImportRefused(
      `'${name}' has ${wrong.rows} rows with a wrong value in '${header}', the first '${wrong.value}'; it must be ${WANTED[meaning]}.`,
    );
  }
  if (!columns.has('ctr')) return;
  const [odd] = await session.rows<{ rows: number; share: number }>(sqlTemplate('import/odd_rates', {}));
  if (odd !== undefined && odd.rows > 0 && odd.share > MAX_ODD_ROWS) {
    throw new ImportRefused(
      `'${name}' has ${odd.rows} rows whose CTR is not clicks by impressions: are its columns clicks, impressions, CTR and position?`,
    );
  }
}

async function refuseRepeatedKeys(
  session: Session,
  { name }: SourceFile,
  dimensions: readonly string[],
): Promise<void> {
  const text = sqlTemplate('import/repeated', { keys: dimensions.join(', '), pack: packed(dimensions) });
  const [repeated] = await session.rows<{ row: string; rows: number }>(text);
  if (repeated === undefined) return;
  throw new ImportRefused(`'${name}' has ${repeated.rows} rows of ${repeated.row}; one of them must go.`);
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}
