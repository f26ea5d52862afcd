import { open } from 'node:fs/promises';
import type { Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { SourceFile } from './files.ts';
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
const SEPARATORS = [',', ';', '\t'];
/** Rows that determine the meaning of columns. */
const SAMPLE = 100;
/** Maximum share of rows whose CTR is not clicks by impressions. */
const MAX_ODD_ROWS = 0.02;

/** A table of an export. */
export interface ExportTable extends RowDays {
  readonly file: SourceFile;
  readonly dimensions: readonly Dimension[];
  /** Whether it was exported from the user interface. */
  readonly isFromInterface: boolean;
  /** Rows with data. */
  readonly rows: number;
  /** The interval of a chart's rows; `day` for all other tables. */
  readonly interval: ChartInterval;
  /** Its rows as Parquet, with typed columns. */
  readonly staged: string;
}

/** A file that is not a table: its filters, or null if it is unknown. */
export interface OtherFile {
  readonly file: SourceFile;
  readonly filters: readonly (readonly [name: string, value: string])[] | null;
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
 * Reads a table into a Parquet file. Throws `ImportRefused` for values that do not match their headers.
 * Tables that cannot be stored are only inspected.
 */
export async function readTable(
  session: Session,
  file: SourceFile,
  staged: string,
  isStored: (dimensions: readonly Dimension[]) => boolean,
): Promise<ExportTable | OtherFile> {
  const { separator, headers } = await readHead(file);
  const names = headers.map((_, index) => `c${index}`);
  const source = {
    columns: names.map((name) => `'${name}': 'VARCHAR'`).join(', '),
    separator: separator === '\t' ? '\\t' : separator,
  };
  const parameters = { file: patternOf(file.path) };
  const rowsOf = <Row>(name: string, parts = {}): Promise<Row[]> =>
    session.rows<Row>(sqlTemplate(`import/${name}`, { ...source, ...parts }), parameters).catch((cause: unknown) => {
      throw new ImportRefused(`'${file.name}' cannot be read as CSV: ${firstLine(cause)}`, { cause });
    });
  const sample = await rowsOf<Record<string, string | null>>('sample', { limit: String(SAMPLE) });
  if (isFilterFile(file.name) && headers.length === 2) {
    return { file, filters: sample.map(({ c0, c1 }) => [c0 ?? '', c1 ?? ''] as const) };
  }
  const columns = columnsOf(file, headers, sample);
  if (columns === undefined) return { file, filters: null };
  const dimensions = DIMENSIONS.filter((dimension) => columns.has(dimension));
  const isFromInterface = !headers.some(isApiName);
  const isChart = isFromInterface && dimensions.join() === 'date';
  const interval: ChartInterval = (isChart ? intervalOfHeader(headers[0]!) : undefined) ?? 'day';
  const table = { file, dimensions, isFromInterface, staged, interval, ...NO_DAYS };
  const [{ rows } = { rows: 0 }] = await rowsOf<{ rows: number }>('count');
  if (!isStored(dimensions) || interval !== 'day') return { ...table, rows };

  const casts = dimensions.map((dimension) => `${CASTS[dimension](columns.get(dimension)!)} as ${dimension}`);
  const measured = { clicks: columns.get('clicks')!, impressions: columns.get('impressions')! };
  const parts = {
    casts: casts.join(', '),
    ...measured,
    position: columns.get('position')!,
    ctr: columns.get('ctr') ?? 'null',
  };
  await session.run(sqlTemplate('import/typed', { ...source, ...parts }), parameters);
  const days = columns.has('date')
    ? await session.rows<RowDay & { emptyRows: number }>(sqlTemplate('import/days', {}))
    : [];
  if (days.length > 0) await session.run(sqlTemplate('import/drop_empty', {}));
  await refuseWrongValues(session, file, columns, headers);
  await refuseRepeatedKeys(session, file, dimensions);
  await session.run(sqlTemplate('import/staged', { keys: dimensions.join(', ') }), { target: staged });
  const empty = days.reduce((sum, { emptyRows }) => sum + emptyRows, 0);
  return { ...table, rows: rows - empty, interval: isChart ? intervalOf(days) : 'day', ...daysOfRows(days) };
}

/** The separator and the header of a file. */
export async function readHead(file: SourceFile): Promise<{ separator: string; headers: string[] }> {
  await using handle = await open(file.path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
  const bytes = buffer.subarray(0, bytesRead);
  if (bytes.includes(0)) throw new ImportRefused(`'${file.name}' is UTF-16 or no text; save it as UTF-8.`);
  const [line = ''] = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  if (line.trim() === '') throw new ImportRefused(`'${file.name}' has no header.`);
  const split = SEPARATORS.map((separator) => ({ separator, headers: fieldsOf(line, separator) }));
  return split.reduce((best, one) => (one.headers.length > best.headers.length ? one : best));
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

/** The column of each dimension and measure; undefined if no column is known. */
function columnsOf(file: SourceFile, headers: readonly string[], sample: readonly SampleRow[]): Columns | undefined {
  const columns = new Map<Dimension | Measure, string>();
  for (const [index, header] of headers.entries()) {
    const meaning = meaningOfHeader(header);
    if (meaning === undefined) continue;
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
  if (MEASURES.some((measure) => measure !== 'ctr' && !columns.has(measure))) return undefined;
  if (!DIMENSIONS.some((dimension) => columns.has(dimension))) {
    const told =
      meaningOfFile(file.name) ??
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
  const text = sqlTemplate('import/repeated', { keys: dimensions.join(', ') });
  const [repeated] = await session.rows<{ row: string; rows: number }>(text);
  if (repeated === undefined) return;
  throw new ImportRefused(`'${name}' has ${repeated.rows} rows of ${repeated.row}; one of them must go.`);
}

export function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? '';
}
