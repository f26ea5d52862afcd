import type { Problem } from '../domain/problems.ts';
import { cut, type FileFailure, findMixedLineEnd, readRecords } from './csv-files.ts';
import { firstLine } from './failures.ts';
import type { TableFiles } from './snapshot-files.ts';
import type { EntityTable, FactTableSchema } from './tables.ts';
import { firstLongLine, TOO_LONG } from './whole-files.ts';

/** Our messages for DuckDB's CSV errors. */
const CSV_FAILURES: readonly (readonly [RegExp, string])[] = [
  [/unterminated quote/i, 'a quote is not closed, or is followed by more text.'],
  [/invalid unicode|not utf-8/i, 'the text is not UTF-8 (Latin-1 or Windows-1252, perhaps); save the file as UTF-8.'],
  [/maximum line size/i, TOO_LONG],
];

/** Turns a read error into a problem that names file and line. Rethrows errors of disk and memory. */
export async function unreadable(
  schema: EntityTable | FactTableSchema,
  files: TableFiles['files'],
  error: unknown,
): Promise<Problem> {
  const said = error instanceof Error ? error.message : String(error);
  if (/no space left|out of memory|file too large|disk quota/i.test(said)) throw error;
  const path = /^\s*file = (.*)$/m.exec(said)?.[1] ?? files.find((file) => said.includes(file.path))?.path;
  const file = files.find((one) => one.path === path) ?? (files.length === 1 ? files[0] : undefined);
  const failure = file?.format === 'csv' ? await csvFailure(said, file.path, schema) : undefined;
  const location = file === undefined ? '' : `'${file.name}'${failure ? `, line ${failure.line}` : ''}: `;
  const message = `${location}${failure?.message ?? `cannot be read: ${cut(firstLine(said))}`}`;
  return { table: schema.name, column: null, message, rows: [] };
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

/** A row in a message: values by column, its file and, for CSV, its line. */
export type ShownRow = Record<string, unknown> & { file?: string; line?: number };

/** Sets the file name of each row, relative to the snapshot, and the line of rows from CSV files. */
export async function findLines(rows: readonly ShownRow[], files: TableFiles['files']): Promise<void> {
  for (const [path, ofFile] of Map.groupBy(rows, ({ file }) => file)) {
    const file = files.find((candidate) => candidate.path === path);
    if (file === undefined) continue;
    for (const row of ofFile) row.file = file.name;
    if (file.format === 'csv') await findLinesOfFile(ofFile, file.path);
  }
}

async function findLinesOfFile(rows: readonly ShownRow[], path: string): Promise<void> {
  const remaining = new Set(rows);
  let names: string[] | undefined;
  for await (const { line, fields } of readRecords(path)) {
    if (names === undefined) {
      names = fields.map((name) => name.trim().toLowerCase());
      continue;
    }
    for (const row of remaining) {
      if (!names.every((name, index) => !(name in row) || isShownAs(fields[index] ?? '', row[name]))) continue;
      row.line = line;
      remaining.delete(row);
    }
    if (remaining.size === 0) return;
  }
}

/** Whether a field may be the shown value: null for an empty field, the beginning of a long one. */
function isShownAs(field: string, shown: unknown): boolean {
  if (shown === null) return field === '';
  return (
    typeof shown === 'string' &&
    (field === shown || (shown.includes('… (') && field.startsWith(shown.split('… (')[0]!)))
  );
}
