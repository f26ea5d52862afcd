import type { Problem } from '../domain/problems.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import { sqlText } from '../runtime/sql.ts';
import { cut, type FileFailure, findMixedLineEnd } from './csv-files.ts';
import { firstLine } from './failures.ts';
import type { TableFiles } from './snapshot-files.ts';
import type { EntityTable, FactTableSchema } from './tables.ts';
import { firstLongLine, TOO_LONG, UNREAD_HEADER } from './whole-files.ts';

/** Our messages for DuckDB's CSV errors. */
const CSV_FAILURES: readonly (readonly [RegExp, string])[] = [
  [/unterminated quote/i, 'a quote is not closed, or is followed by more text.'],
  [/invalid unicode|not utf-8/i, 'the text is not UTF-8 (Latin-1 or Windows-1252, perhaps); save the file as UTF-8.'],
  [/maximum line size/i, TOO_LONG],
];

/**
 * Turns a read error into a problem that names file and line. Rethrows errors of disk and memory.
 * @param session reads Parquet files again, one by one, where there are several and the error names none
 */
export async function unreadable(
  schema: EntityTable | FactTableSchema,
  files: TableFiles['files'],
  error: unknown,
  session?: Session,
): Promise<Problem> {
  const said = error instanceof Error ? error.message : String(error);
  if (/no space left|out of memory|file too large|disk quota/i.test(said)) throw error;
  const path = /^\s*file = (.*)$/m.exec(said)?.[1] ?? files.find((file) => said.includes(file.path))?.path;
  const file = files.find((one) => one.path === path) ?? (await brokenFile(files, session));
  // DuckDB reads headers with a name or an extra field, and nothing else.
  if (/Unsupported GZIP archive/.test(said)) {
    const where = file === undefined ? 'one of its files: ' : `'${file.name}': `;
    return { table: schema.name, column: null, message: `${where}${UNREAD_HEADER}`, rows: [] };
  }
  const failure = file?.format === 'csv' ? await csvFailure(said, file.path, schema) : undefined;
  const location = file === undefined ? '' : `'${file.name}'${failure ? `, line ${failure.line}` : ''}: `;
  const message = `${location}${failure?.message ?? `cannot be read: ${cut(firstLine(said))}`}`;
  return { table: schema.name, column: null, message, rows: [] };
}

async function brokenFile(
  files: TableFiles['files'],
  session: Session | undefined,
): Promise<TableFiles['files'][number] | undefined> {
  if (files.length === 1) return files[0];
  for (const file of files.filter(({ format }) => session !== undefined && format === 'parquet')) {
    try {
      await session!.rows(sqlText('load/read_whole_file'), { file: patternOf(file.path) });
    } catch {
      return file;
    }
  }
  return undefined;
}

async function csvFailure(
  said: string,
  path: string,
  { columns }: EntityTable | FactTableSchema,
): Promise<FileFailure | undefined> {
  if (said.includes('reached an invalid state')) return findMixedLineEnd(path);
  const line = Number(/CSV Error on Line: (\d+)/.exec(said)?.[1]);
  if (!(line > 0)) {
    const long = await firstLongLine(path);
    return long === undefined ? undefined : { line: long, message: TOO_LONG };
  }
  const [, text = ''] =
    /Original Line: ([\s\S]*?)\n+(?:Expected Number|Value with|Invalid unicode|Maximum line|Possible)/.exec(said) ?? [];
  const found = text === '' ? '' : ` Found: ${cut(text.trimEnd(), 200)}`;
  const [, expected, has] = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(said) ?? [];
  if (expected !== undefined) {
    const number = Number(has) > Number(expected) ? 'more' : has;
    const message = `${number} fields instead of the ${expected} of the header.${found}; a row is: ${columns.map(({ name }) => name).join(',')}`;
    return { line, message };
  }
  const known = CSV_FAILURES.find(([pattern]) => pattern.test(said));
  return { line, message: `${known?.[1] ?? 'cannot be read as CSV.'}${found}` };
}
