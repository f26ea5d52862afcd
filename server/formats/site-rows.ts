import type { SiteResult } from '../reports/site.ts';
import {
  batchOf,
  comparedColumns,
  comparedSums,
  DAY_COUNT,
  METRICS,
  metricReaders,
  positionSum,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

/** One row per day, or longer interval, of the property. */
export function siteRows({ answer, rows, interval }: SiteResult): RowsAnswer {
  const { project, range, quality, daily } = answer;
  const hasDays = interval !== 'day';
  const all = rows.map((row, index) => ({ ...row, metrics: daily[index]! }));
  const isCompared = range.comparison !== undefined;
  const compared = comparedColumns<(typeof all)[number]>(comparedSums, {
    isCompared,
    isSpread: rows.some(({ base }) => base?.fraction !== undefined),
  });
  return {
    head: { name: `${project.domain}-site`, total: rows.length, range, ...(quality && { quality }) },
    columns: [
      { name: 'date', type: 'day' },
      ...(hasDays ? [DAY_COUNT] : []),
      ...METRICS,
      ...compared.columns,
      sumPositionColumn(rows.some(({ now }) => now.fraction !== undefined)),
    ],
    batches: [
      batchOf(all, [
        ({ date }) => date,
        ...(hasDays ? [({ days }: (typeof all)[number]) => days!] : []),
        ...metricReaders(({ metrics }: (typeof all)[number]) => metrics),
        ...compared.readers,
        positionSum,
      ]),
    ],
  };
}
