import type { FactFile } from '../catalog/manifest.ts';
import { addDays, countDays, later, monthOf } from '../domain/dates.ts';
import { shortIdNumber } from '../domain/ids.ts';
import type { Range } from '../domain/range.ts';
import type { Facts } from '../facts/facts.ts';
import { addUpDays, emptyGrid, type KeywordGrid } from './keyword-facts.ts';

/** The files of a project's keywords up to the end of a range, by month. */
export interface KeywordDayFiles {
  /** `keyword_all`. */
  readonly days: readonly FactFile[];
  /** `keyword_cumulative`. */
  readonly cumulative: readonly FactFile[];
}

interface SumsQuery {
  readonly files: KeywordDayFiles;
  readonly range: Range;
  readonly signal: AbortSignal;
}

/**
 * Reads impressions and positions of keywords as prefix sums by day. Cumulative totals are prefix sums already, with one
 * row per keyword and month. Days are added up only if a project has no cumulative totals (an older version loaded it).
 */
export async function readKeywordSums(
  facts: Facts,
  query: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const { days, cumulative } = query.files;
  const months = new Set(cumulative.map(({ part }) => part));
  return days.every(({ part }) => months.has(part))
    ? readCumulative(facts, query, keywords)
    : readDays(facts, query, keywords);
}

async function readCumulative(
  facts: Facts,
  { files, range, signal }: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const days = countDays(range.from, range.to);
  const grid = emptyGrid(keywords.length, days);
  const indexes = new Map(keywords.map((id, index) => [shortIdNumber(id), index]));
  // The first cell has the total before the range.
  const first = addDays(range.from, -1);
  for (const [index, file] of files.cumulative.entries()) {
    const next = files.cumulative[index + 1];
    const from = later(first, `${file.part}-01`);
    // A month without a file repeats the totals before it.
    const to = next === undefined ? range.to : addDays(`${next.part}-01`, -1);
    if (to < from) continue;
    const columns = columnsOf(file.part, { from, to });
    const start = countDays(range.from, from);
    await facts.keywordCumulativeDays({ files: [file], range, signal }, (values, rows) => {
      const cells = Array.from(
        { length: rows },
        (_, row) => (indexes.get(values[0]![row]!) ?? Number.NaN) * (days + 1) + start,
      );
      for (const [day, column] of columns.entries()) {
        copyColumn(values[column]!, grid.impressions, cells, day);
        copyColumn(values[column + MONTH_DAYS]!, grid.positions, cells, day);
      }
    });
  }
  return grid;
}

/** Copies the values of a day to the cells of their keywords. NaN: the keyword is not tracked. */
function copyColumn(values: Float64Array, to: Float64Array, cells: readonly number[], day: number): void {
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row]!;
    if (!Number.isNaN(cell)) to[cell + day] = values[row]!;
  }
}

/** Each file of cumulative totals has columns for this many days, also in shorter months. */
const MONTH_DAYS = 31;

/** The column of impressions for each day of a range that starts in `month`. */
function columnsOf(month: string, { from, to }: Range): number[] {
  const first = Number(from.slice(8));
  return Array.from({ length: countDays(from, to) }, (_, day) =>
    monthOf(addDays(from, day)) === month ? first + day : MONTH_DAYS,
  );
}

async function readDays(
  facts: Facts,
  { files, range, signal }: SumsQuery,
  keywords: readonly string[],
): Promise<KeywordGrid> {
  const days = countDays(range.from, range.to);
  const grid = emptyGrid(keywords.length, days);
  const inRange = files.days.filter(({ part }) => part >= monthOf(range.from));
  await facts.keywordImpressions(
    { files: inRange, range, signal },
    keywords,
    ([cells, impressions, positions], rows) => {
      for (let row = 0; row < rows; row++) {
        grid.impressions[cells![row]!] = impressions![row]!;
        grid.positions[cells![row]!] = positions![row]!;
      }
    },
  );
  addUpDays(grid, days);
  return grid;
}
