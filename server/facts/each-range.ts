import { eachDay } from '../domain/dates.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { SiteDayMeasures, StoredRange, TakeColumns } from './facts.ts';

/** The files of several properties in one list, with parallel lists of the property and the days to read of each. */
interface FilesOfEach {
  readonly files: readonly StoredFile[];
  /** The indices of properties in the list of ranges. */
  readonly ordinals: readonly string[];
  readonly firsts: readonly string[];
  readonly lasts: readonly string[];
}

/** Groups the files of ranges by the maximum of a statement; a range with more files is not split. */
export function* groupsOf(ranges: readonly StoredRange[], maxFiles: number): Generator<FilesOfEach> {
  let read: { file: StoredFile; range: Range; ordinal: number }[] = [];
  for (const [ordinal, { files, range }] of ranges.entries()) {
    if (read.length > 0 && read.length + files.length > maxFiles) {
      yield listsOf(read);
      read = [];
    }
    for (const file of files) read.push({ file, range, ordinal });
  }
  if (read.length > 0) yield listsOf(read);
}

function listsOf(read: readonly { file: StoredFile; range: Range; ordinal: number }[]): FilesOfEach {
  return {
    files: read.map(({ file }) => file),
    ordinals: read.map(({ ordinal }) => String(ordinal)),
    firsts: read.map(({ range }) => range.from),
    lasts: read.map(({ range }) => range.to),
  };
}

/** Collects a result for each range from rows. */
export interface Collected<T> {
  readonly found: T[];
  readonly take: TakeColumns;
}

type Numbers = Float64Array;
type ColumnsOfDays = readonly [Numbers, Numbers, Numbers, Numbers, Numbers, Numbers];

/** Collects the rows of `site_daily_each`: the days of each range, in order. */
export function collectSiteDays(ranges: readonly StoredRange[]): Collected<SiteDayMeasures[]> {
  const found = ranges.map((): SiteDayMeasures[] => []);
  const days = ranges.map(({ range: { from, to } }) => eachDay(from, to));
  const take: TakeColumns = (columns, rows) => {
    const [ordinal, day, hasUnknownDevice, clicks, impressions, sumPosition] = columns as ColumnsOfDays;
    for (let row = 0; row < rows; row++) {
      const at = ordinal[row]!;
      found[at]!.push({
        date: days[at]![day[row]!]!,
        hasUnknownDevice: hasUnknownDevice[row]!,
        clicks: clicks[row]!,
        impressions: impressions[row]!,
        sumPosition: sumPosition[row]!,
      });
    }
  };
  return { found, take };
}

/** Collects the rows of `brand_totals_each`: the measures of each range; null if they are unknown. */
export function collectTotals(ranges: readonly StoredRange[]): Collected<Measures | null> {
  const found = ranges.map((): Measures | null => NOTHING);
  const take: TakeColumns = ([ordinal, isUnknown, clicks, impressions, sumPosition], rows) => {
    for (let row = 0; row < rows; row++) {
      const measures = { clicks: clicks![row]!, impressions: impressions![row]!, sumPosition: sumPosition![row]! };
      found[ordinal![row]!] = isUnknown![row] === 1 ? null : measures;
    }
  };
  return { found, take };
}
