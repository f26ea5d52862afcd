import type { SurfacesResult } from '../reports/surfaces.ts';
import {
  batchOf,
  comparedColumns,
  comparedSums,
  METRICS,
  metricReaders,
  positionSum,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

/** One row per stored search type, and one for Bing. */
export function surfaceRows({ answer: { project, range, surfaces }, rows }: SurfacesResult): RowsAnswer {
  const all = rows.map(({ surface, total }, index) => ({ ...surface, total, metrics: surfaces[index]! }));
  type Row = (typeof all)[number];
  const compared = comparedColumns<Row>(({ total }) => comparedSums(total), {
    isCompared: range.comparison !== undefined,
  });
  return {
    head: { name: `${project.domain}-surfaces`, total: all.length, range },
    columns: [
      { name: 'engine', type: 'text' },
      { name: 'type', type: 'text' },
      { name: 'grain', type: 'text' },
      { name: 'firstDay', type: 'day' },
      { name: 'lastDay', type: 'day' },
      { name: 'provisionalAfter', type: 'day' },
      ...METRICS,
      ...compared.columns,
      sumPositionColumn(),
    ],
    batches: [
      batchOf(all, [
        ({ engine }) => engine,
        ({ type }) => type,
        ({ grain }) => grain,
        ({ firstDay }) => firstDay,
        ({ lastDay }) => lastDay,
        ({ provisionalAfter }) => provisionalAfter,
        ...metricReaders(({ metrics }: Row) => metrics),
        ...compared.readers,
        ({ total }) => positionSum(total),
      ]),
    ],
  };
}
