import type { Day } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { readRecords } from '../load/csv-files.ts';
import { ImportRefused } from '../load/import-rows.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { SourceFile } from './files.ts';

/** Refuses typed rows of days that have not happened: they would be final before they are known. */
export async function refuseFutureDays(
  session: Session,
  file: SourceFile,
  { raw, separator, last }: { readonly raw: string; readonly separator: string; readonly last: Day },
): Promise<void> {
  const text = sqlTemplate('import/future_days', { raw });
  const [found] = await session.rows<{ rows: number; day: Day; value: string }>(text, { last });
  if (found === undefined || found.rows === 0) return;
  const line = await lineOf(file, separator, Number(raw.slice(1)), found.value);
  throw new ImportRefused(
    `'${file.name}', line ${line}: the day ${found.day} has not happened yet; days may be at most ${last} (tomorrow, UTC).`,
  );
}

/** The line of the first row with a value in a column, from 1. */
async function lineOf({ path }: SourceFile, separator: string, column: number, value: string): Promise<number> {
  for await (const { line, fields } of readRecords(path, separator)) if (fields[column] === value) return line;
  return 1;
}
