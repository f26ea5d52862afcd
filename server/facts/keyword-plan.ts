import { addDays, type Day, type Month, monthOf } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';

/** A row of the manifest: the file of a month, or of all months (`all`). */
interface PartFile extends StoredFile {
  readonly part: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

/** The manifest rows of a project up to the month in which a range ends, ordered by month. */
export interface KeywordFiles {
  /** Days: `keyword_all` for all devices together, `keyword_daily` for one of them. */
  readonly days: readonly PartFile[];
  /** `keyword_cumulative`, for all devices together. */
  readonly cumulative: readonly PartFile[];
  /** `keyword_running`. */
  readonly running: StoredFile | undefined;
}

/** How to compute the totals of keywords over a range: as the sum of all its terms. */
export interface KeywordTotalsPlan {
  /** Totals from the first stored day to the end of a day in the file's month, added or subtracted. */
  readonly cumulative: readonly { readonly file: StoredFile; readonly day: number; readonly sign: 1 | -1 }[];
  /** Running totals by month, for the months that the range covers completely. */
  readonly running: RunningTotals | undefined;
  /** Days of the months that the range covers in part. */
  readonly days: readonly StoredFile[];
}

/** The running total of the month `through` minus that of the month `before`. Both are given by their first day. */
interface RunningTotals {
  readonly file: StoredFile;
  readonly through: Day;
  readonly before: Day | null;
}

/** The plan for a range without stored days. */
export const NO_KEYWORD_TOTALS: KeywordTotalsPlan = { cumulative: [], running: undefined, days: [] };

/** Each file of cumulative totals has columns for this day, also in shorter months. */
const LAST_DAY = 31;

/**
 * Plans the totals of keywords over a range. With cumulative totals by day: the total to the end of the range minus the
 * total before it. Without them (a single device, or a project that an older version loaded last): running totals by
 * month, and days.
 */
export function planKeywordTotals(files: KeywordFiles, range: Range): KeywordTotalsPlan {
  const months = files.days.filter(({ part }) => part <= monthOf(range.to));
  if (months.length === 0) return NO_KEYWORD_TOTALS;
  return planByDay(files, months, range) ?? planByMonth(files, months, range);
}

function planByDay(
  { cumulative }: KeywordFiles,
  months: readonly PartFile[],
  range: Range,
): KeywordTotalsPlan | undefined {
  const byMonth = new Map(cumulative.map((file) => [file.part, file]));
  if (months.some(({ part }) => !byMonth.has(part))) return undefined;
  const before = addDays(range.from, -1);
  const terms = [
    { until: cumulativeUntil(months, range.to), sign: 1 },
    { until: cumulativeUntil(months, before), sign: -1 },
  ] as const;
  const [end, start] = terms.map(({ until }) => until);
  // Nothing is stored in the range.
  if (end?.month === start?.month && end?.day === start?.day) return NO_KEYWORD_TOTALS;
  return {
    ...NO_KEYWORD_TOTALS,
    cumulative: terms.flatMap(({ until, sign }) =>
      until === undefined ? [] : [{ file: storedFile(byMonth.get(until.month)!), day: until.day, sign }],
    ),
  };
}

/** The last stored month with data by a day, and the day whose columns to read; undefined before the first stored day. */
function cumulativeUntil(months: readonly PartFile[], day: Day): { month: Month; day: number } | undefined {
  const last = months.findLast(({ part }) => part <= monthOf(day));
  if (last === undefined || day < last.firstDay) {
    const earlier = months.findLast(({ part }) => part < monthOf(day));
    return earlier && { month: earlier.part, day: LAST_DAY };
  }
  return { month: last.part, day: day >= last.lastDay ? LAST_DAY : Number(day.slice(8)) };
}

/** A month is covered if all of its stored days are in the range. Only the first and last month can be partly covered. */
function planByMonth({ running }: KeywordFiles, stored: readonly PartFile[], range: Range): KeywordTotalsPlan {
  const months = stored.filter(({ part }) => part >= monthOf(range.from));
  const isCovered = ({ firstDay, lastDay }: PartFile): boolean => range.from <= firstDay && lastDay <= range.to;
  const covered = months.filter(isCovered);
  const [first] = covered;
  if (first === undefined || running === undefined) return { ...NO_KEYWORD_TOTALS, days: months.map(storedFile) };
  const before = stored.findLast(({ part }) => part < first.part);
  return {
    cumulative: [],
    days: months.filter((month) => !isCovered(month)).map(storedFile),
    running: {
      file: running,
      through: `${covered.at(-1)!.part}-01`,
      before: before === undefined ? null : `${before.part}-01`,
    },
  };
}

function storedFile({ file, bytes, sha256 }: StoredFile): StoredFile {
  return { file, bytes, sha256 };
}
