import { eachDay } from '../domain/dates.ts';
import { type Measures, NOTHING } from '../domain/metrics.ts';
import type { StoredFile } from '../storage/file-store.ts';
import type { FactsPart, SiteDayMeasures, TakeColumns } from './facts.ts';

/** The files of several properties in one list; the other lists say for each whose it is, and which days to read. */
export interface FilesOfEach {
  readonly files: readonly StoredFile[];
  /** Places of properties in the list of parts. */
  readonly places: readonly string[];
  readonly firsts: readonly string[];
  readonly lasts: readonly string[];
}

export function filesOfEach(parts: readonly FactsPart[]): FilesOfEach {
  const read = parts.flatMap(({ files, range }, place) => files.map((file) => ({ file, range, place })));
  return {
    files: read.map(({ file }) => file),
    places: read.map(({ place }) => String(place)),
    firsts: read.map(({ range }) => range.from),
    lasts: read.map(({ range }) => range.to),
  };
}

type Numbers = Float64Array;
type ColumnsOfDays = readonly [Numbers, Numbers, Numbers, Numbers, Numbers, Numbers];

/** Collects the rows of `site_daily_each`: the days of each part, in order. */
export function collectSiteDays(parts: readonly FactsPart[]): { days: SiteDayMeasures[][]; take: TakeColumns } {
  const found = parts.map((): SiteDayMeasures[] => []);
  const days = parts.map(({ range: { from, to } }) => eachDay(from, to));
  const take: TakeColumns = (columns, rows) => {
    const [place, day, hasUnknownDevice, clicks, impressions, sumPosition] = columns as ColumnsOfDays;
    for (let row = 0; row < rows; row++) {
      const at = place[row]!;
      found[at]!.push({
        date: days[at]![day[row]!]!,
        hasUnknownDevice: hasUnknownDevice[row]!,
        clicks: clicks[row]!,
        impressions: impressions[row]!,
        sumPosition: sumPosition[row]!,
      });
    }
  };
  return { days: found, take };
}

/** Collects the rows of `brand_totals_each`: the measures of each part. */
export function collectTotals(parts: readonly FactsPart[]): { totals: Measures[]; take: TakeColumns } {
  const totals = parts.map(() => NOTHING);
  const take: TakeColumns = ([place, clicks, impressions, sumPosition], rows) => {
    for (let row = 0; row < rows; row++) {
      totals[place![row]!] = {
        clicks: clicks![row]!,
        impressions: impressions![row]!,
        sumPosition: sumPosition![row]!,
      };
    }
  };
  return { totals, take };
}
