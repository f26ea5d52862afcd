import { join } from 'node:path';
import type { Session } from '../facts/engine.ts';
import { sqlTemplate } from '../sql.ts';
import type { StagedMonth } from './month-files.ts';
import { count, type Problem } from './problems.ts';
import type { FactTableShape } from './tables.ts';

/** About how many staged facts are checked for duplicates at once. */
const BATCH_ROWS = 1_000_000;
/** A month's sums may reach this, so that those of a range stay exact in JSON. */
const MOST_A_MONTH = Math.floor(Number.MAX_SAFE_INTEGER / 20);

/** What a load carries, by fact table. */
export type StagedMonths = ReadonlyMap<FactTableShape, readonly StagedMonth[]>;

interface MonthRow extends Omit<StagedMonth, 'files'> {
  readonly largest: number;
}

/** Lists what `stageFacts` wrote below `folder`, and says where sums would leave the whole numbers that JSON carries. */
export async function readStagedMonths(
  session: Session,
  shape: FactTableShape,
  folder: string,
): Promise<{ months: StagedMonth[]; problems: Problem[] }> {
  const found = await session.rows<{ file: string }>('select file from glob($pattern) order by file', {
    pattern: join(folder, 'part=*', '*.parquet'),
  });
  const byPart = new Map<string, string[]>();
  for (const { file } of found) {
    const part = /part=([^/\\]+)/.exec(file)?.[1] ?? '';
    if (part !== 'wrong') byPart.set(part, [...(byPart.get(part) ?? []), file]);
  }
  const files = [...byPart.values()].flat();
  if (files.length === 0) return { months: [], problems: [] };
  const rows = await session.rows<MonthRow>(sqlTemplate('load/staged_months', { day: shape.day }), { files });
  const tooLarge = rows.filter(({ largest }) => largest > MOST_A_MONTH);
  return {
    months: rows.map(({ project, month, rows: number, firstDay, lastDay }) => ({
      project,
      month,
      rows: number,
      firstDay,
      lastDay,
      files: byPart.get(`${project}-${month.replace('-', '')}`) ?? [],
    })),
    problems:
      tooLarge.length === 0
        ? []
        : [
            {
              table: shape.name,
              column: null,
              message: `${count(tooLarge.length, 'month')} whose sums are too large to be exact in JSON (over ${MOST_A_MONTH}). The first:`,
              rows: tooLarge.slice(0, 3).map(({ project, month }) => ({ project_id: project, month })),
            },
          ],
  };
}

/** The files of staged months in parts of about a million rows. Keys never reach over months, nor so over parts. */
export function batches(months: readonly StagedMonth[]): string[][] {
  const parts: string[][] = [];
  let rows = Number.POSITIVE_INFINITY;
  for (const month of months) {
    if (rows + month.rows > BATCH_ROWS) {
      parts.push([]);
      rows = 0;
    }
    parts.at(-1)!.push(...month.files);
    rows += month.rows;
  }
  return parts;
}
