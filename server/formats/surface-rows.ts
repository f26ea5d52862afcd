import type { SurfacesResult } from '../reports/surfaces.ts';
import {
  batchOf,
  comparedColumns,
  comparedSums,
  METRICS,
  positionSum,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

const NOT_COMPARED = { base: null, compared: null };

/** One row per stored search type, one for Bing, and one for each report about AI answers. */
export function surfaceRows({ answer: { project, range, surfaces }, rows }: SurfacesResult): RowsAnswer {
  const all = surfaces.map((surface, index) => ({ ...surface, total: rows[index]?.total ?? null }));
  type Row = (typeof all)[number];
  const compared = comparedColumns<Row>(({ total }) => (total === null ? NOT_COMPARED : comparedSums(total)), {
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
      { name: 'aiImpressions', type: 'count' },
      { name: 'citations', type: 'count' },
      { name: 'stale', type: 'boolean' },
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
        ({ clicks }) => clicks,
        ({ impressions }) => impressions,
        ({ ctr }) => ctr,
        ({ position }) => position,
        ...compared.readers,
        (row) => ('aiImpressions' in row ? (row.aiImpressions ?? null) : null),
        (row) => ('citations' in row ? (row.citations ?? null) : null),
        ({ stale }) => stale,
        ({ total }) => total && positionSum(total),
      ]),
    ],
  };
}
