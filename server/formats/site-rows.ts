import type { SiteResult } from '../reports/site.ts';
import { comparedColumns, exactSum } from './compared-rows.ts';
import { batchOf, METRICS, metricReaders, type RowsAnswer, sumPositionColumn } from './rows.ts';

/** The days of the property, or what they are added up to, a row each. */
export function siteRows({ answer, rows }: SiteResult): RowsAnswer {
  const { project, range, quality, daily } = answer;
  const all = rows.map((row, index) => ({ ...row, metrics: daily[index]! }));
  const isCompared = range.comparison !== undefined;
  const compared = comparedColumns<(typeof all)[number]>((row) => row, {
    isCompared,
    isSpread: rows.some(({ base }) => base.fraction !== undefined),
  });
  return {
    head: { name: `${project.domain}-site`, total: rows.length, range, ...(quality && { quality }) },
    columns: [
      { name: 'date', type: 'day' },
      ...METRICS,
      ...compared.columns,
      sumPositionColumn(rows.some(({ now }) => now.fraction !== undefined)),
    ],
    batches: [
      batchOf(all, [
        ({ date }) => date,
        ...metricReaders(({ metrics }: (typeof all)[number]) => metrics),
        ...compared.readers,
        ({ now }) => exactSum(now),
      ]),
    ],
  };
}
