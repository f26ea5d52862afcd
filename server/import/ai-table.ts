import type { Day } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { packed } from '../load/tables.ts';
import type { AiEngine } from '../model/tables.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { ignoring, otherColumns, refuseOtherScopes, refuseUnknown } from './columns.ts';
import type { SourceFile } from './files.ts';
import { refuseFutureDays } from './future-days.ts';
import { readHead, unreadable } from './read-table.ts';
import { daysOfRows, intervalOf, type RowDay, type RowDays } from './row-days.ts';
import { isFilterFile, isHarmlessFilter, meaningOfHeader } from './words.ts';

/** The columns that an import needs, by their headers. */
export const AI_COLUMNS = ['date', 'page', 'ai_impressions', 'citations'] as const;
export type AiMap = Readonly<Partial<Record<(typeof AI_COLUMNS)[number], string>>>;

/** The columns of a table in the order of its file (`c0`); null for one that it does not have. */
export interface AiColumns {
  readonly engine: AiEngine;
  readonly date: string | null;
  readonly page: string | null;
  readonly count: string;
}

/** A file with what is known of it. */
export interface AiFile extends Pick<RowDays, 'firstDay' | 'lastDay'> {
  readonly file: SourceFile;
  /** Null for a file that is not stored. */
  readonly columns: AiColumns | null;
  readonly rows: number;
  /** Its rows as Parquet: date, page and count. */
  readonly staged: string;
  /** Why it is not stored, or what remains unknown. */
  readonly remark: string | null;
}

const KNOWN =
  "Google's report has 'Date' or 'Top pages' with 'Impressions', Bing's 'Date' or 'Page' with 'Citations'. Name other columns, as in --columns date=Day,citations=Count (date, page, ai_impressions, citations).";
const EXPECTED = {
  date: 'a day written YYYY-MM-DD, or as Bing writes it (9/5/2026 12:00:00 AM)',
  page: 'an absolute URL',
  count: 'a whole number',
};
/** As long as lists of Google's user interface can be. */
const MAX_ROWS = 1000;

/** What the caller knows of the files. */
interface AiReadOptions {
  readonly columns?: AiMap;
  readonly property: string;
  readonly force?: boolean;
  /** The last day that rows may be about. */
  readonly last: Day;
  /** Headers of columns that do not change what rows count. */
  readonly ignoredColumns?: readonly string[];
}

/** How many pages were cited on a day: a column of Bing's that is not stored. */
const CITED_PAGES = /^cited pages$/i;

/** Reads a file into Parquet. Throws `ImportRefused` for an unknown header, a value that does not match it, and a filter. */
export async function readAiTable(
  session: Session,
  file: SourceFile,
  staged: string,
  options: AiReadOptions,
): Promise<AiFile> {
  const { separator, headers } = await readHead(file);
  const source = {
    columns: headers.map((_, index) => `'c${index}': 'VARCHAR'`).join(', '),
    separator: separator === '\t' ? '\\t' : separator,
  };
  const parameters = { file: patternOf(file.path) };
  const fail = (cause: unknown): never => {
    throw unreadable(file, cause);
  };
  const none = { file, staged, columns: null, rows: 0, firstDay: null, lastDay: null };
  if (isFilterFile(file.base) && headers.length === 2) {
    const rows = sqlTemplate('import/sample', { ...source, limit: '100' });
    const filters = await session.rows<{ c0: string | null; c1: string | null }>(rows, parameters).catch(fail);
    const set = filters.find(({ c0, c1 }) => !isHarmlessFilter(c0 ?? '', c1 ?? ''));
    if (set === undefined) return { ...none, remark: 'filters: none that matters' };
    throw new ImportRefused(
      `'${file.name}' has the filter '${set.c0 ?? ''}: ${set.c1 ?? ''}', so its numbers are of a part of the site; export the report without filters.`,
    );
  }
  const columns = columnsOf(file, headers, options.columns);
  if (columns === null) return { ...none, remark: 'not stored: neither days nor pages' };
  const { date, page, count } = columns;
  const parts = { ...source, date: date ?? 'null', page: page ?? 'null', count };
  await session.run(sqlTemplate('import/ai_typed', parts), parameters).catch(fail);
  for (const column of ['date', 'page', 'count'] as const) {
    const raw = columns[column];
    if (raw !== null) await refuseWrongValues(session, file, { column, raw, header: headers[Number(raw.slice(1))]! });
  }
  if (date !== null) await refuseFutureDays(session, file, { raw: date, separator, last: options.last });
  const ignored = await refuseOthers(session, file, headers, columns, options);
  await refuseRepeated(session, file, columns);
  const days = date === null ? [] : await session.rows<RowDay>(sqlTemplate('import/ai_row_days', {}));
  if (page === null && intervalOf(days) !== 'day') {
    return { ...none, remark: `not stored: its rows are ${intervalOf(days)}s, whose days are not known; export days` };
  }
  const rows = await session.run(sqlTemplate('import/ai_staged', {}), { target: staged });
  const isCut = page !== null && date === null && rows === MAX_ROWS && columns.engine === 'google';
  const cut = isCut ? [`as long as such a list can be (${MAX_ROWS} rows): others are probably missing`] : [];
  const remark = [...cut, ...ignored].join('; ') || null;
  const { firstDay, lastDay } = daysOfRows(days);
  return { file, columns, rows, firstDay, lastDay, staged, remark };
}

/** Refuses columns that may change what the rows count. Returns a remark on the others. */
async function refuseOthers(
  session: Session,
  file: SourceFile,
  headers: readonly string[],
  { date, page, count }: AiColumns,
  { property, force = false, ignoredColumns = [] }: AiReadOptions,
): Promise<string[]> {
  const named = [...ignoredColumns, ...headers.filter((header) => CITED_PAGES.test(header))];
  const read = new Set([date, page, count].filter((column) => column !== null));
  const has = { date: date !== null, page: page !== null, query: false, named };
  const { scopes, ignored, unknown } = otherColumns(headers, read, has);
  const { property: site, ...rest } = Object.fromEntries(scopes);
  const empty = await refuseUnknown(session, file, headers, [...unknown, ...Object.values(rest)]);
  const isOf = new Map(site === undefined ? [] : [['property', site] as const]);
  await refuseOtherScopes(session, file, headers, { scopes: isOf, isOfPages: has.page, property, force });
  return ignoring([...ignored, ...empty]);
}

/** The columns of a header; null for a table of neither days nor pages. */
function columnsOf(file: SourceFile, headers: readonly string[], map: AiMap | undefined): AiColumns | null {
  const names = headers.map((header) => nameOf(header, map));
  const repeated = names.find((name, index) => name !== undefined && names.indexOf(name) !== index);
  const found = (name: (typeof AI_COLUMNS)[number]): string | null =>
    names.includes(name) ? `c${names.indexOf(name)}` : null;
  const impressions = found('ai_impressions');
  const citations = found('citations');
  const count = citations ?? impressions;
  const isPerformance = map === undefined && headers.some((header) => meaningOfHeader(header) === 'clicks');
  const isUnclear = count === null || repeated !== undefined || (impressions !== null && citations !== null);
  if (isUnclear || isPerformance || (map !== undefined && found('date') === null && found('page') === null)) {
    const hint = isPerformance ? ' A report with clicks is imported by `ordinate import search-console`.' : '';
    throw new ImportRefused(
      `'${file.name}' has the header '${headers.join(', ').slice(0, 300)}', which is of no report about AI answers that is known.${hint} ${KNOWN}`,
    );
  }
  const [date, page] = [found('date'), found('page')];
  return date === null && page === null ? null : { engine: citations === null ? 'google' : 'bing', date, page, count };
}

function nameOf(header: string, map: AiMap | undefined): (typeof AI_COLUMNS)[number] | undefined {
  if (map !== undefined) return AI_COLUMNS.find((name) => map[name] === header);
  if (header.toLowerCase() === 'citations') return 'citations';
  const meaning = meaningOfHeader(header);
  if (meaning === 'impressions') return 'ai_impressions';
  return meaning === 'date' || meaning === 'page' ? meaning : undefined;
}

async function refuseWrongValues(
  session: Session,
  { name }: SourceFile,
  { column, raw, header }: { column: keyof typeof EXPECTED; raw: string; header: string },
): Promise<void> {
  const [wrong] = await session.rows<{ rows: number; value: string }>(sqlTemplate('import/wrong', { column, raw }));
  if (wrong === undefined || wrong.rows === 0) return;
  throw new ImportRefused(
    `'${name}' has ${wrong.rows} rows with a wrong value in '${header}', the first '${wrong.value.slice(0, 100)}'; it must be ${EXPECTED[column]}.`,
  );
}

async function refuseRepeated(session: Session, { name }: SourceFile, { date, page }: AiColumns): Promise<void> {
  const keys = [date === null ? [] : 'date', page === null ? [] : 'page'].flat();
  const text = sqlTemplate('import/repeated', { keys: keys.join(', '), pack: packed(keys) });
  const [repeated] = await session.rows<{ row: string; rows: number }>(text);
  if (repeated === undefined) return;
  throw new ImportRefused(`'${name}' has ${repeated.rows} rows of ${repeated.row}; one of them must go.`);
}
