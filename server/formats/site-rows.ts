import type { SiteResult } from '../reports/site.ts';
import { batchOf, METRICS, type RowsAnswer, sumPositionColumn } from './rows.ts';

/** The days of the property, a row each. */
export function siteRows({ answer, sumPositions, isSpread }: SiteResult): RowsAnswer {
  const { project, range, daily } = answer;
  const rows = daily.map((day, index) => ({ ...day, sumPosition: sumPositions[index]! }));
  return {
    head: { name: `${project.domain}-site`, total: rows.length, range },
    columns: [{ name: 'date', type: 'day' }, ...METRICS, sumPositionColumn(isSpread)],
    batches: [
      batchOf(rows, [
        ({ date }) => date,
        ({ clicks }) => clicks,
        ({ impressions }) => impressions,
        ({ ctr }) => ctr,
        ({ position }) => position,
        ({ sumPosition }) => sumPosition,
      ]),
    ],
  };
}
