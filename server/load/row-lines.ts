import { readRecords } from './csv-files.ts';
import type { TableFiles } from './snapshot-files.ts';

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
