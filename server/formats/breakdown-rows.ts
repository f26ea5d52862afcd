import type { BreakdownsResult } from '../reports/breakdowns.ts';
import type { BreakdownRow } from '../reports/compared-breakdowns.ts';
import {
  batchOf,
  comparedColumns,
  exactSum,
  METRICS,
  metricReaders,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

interface FlatRow extends BreakdownRow {
  readonly kind: 'country' | 'device' | 'appearance' | 'segment';
}

/** All breakdowns in one table: the breakdown of each row, and its value. */
export function breakdownRows({
  answer,
  rows: { countries, devices, appearances, segments },
}: BreakdownsResult): RowsAnswer {
  const ofKind = (kind: FlatRow['kind'], of: readonly BreakdownRow[]): FlatRow[] => of.map((row) => ({ ...row, kind }));
  const rows = [
    ...ofKind('country', countries),
    ...ofKind('device', devices),
    ...ofKind('appearance', appearances),
    ...ofKind('segment', Object.values(segments ?? {})),
  ];
  const isSpread = (of: (row: FlatRow) => FlatRow['now']): boolean =>
    rows.some((row) => {
      const sums = of(row);
      return sums !== null && !Number.isInteger(exactSum(sums) ?? 0);
    });
  const compared = comparedColumns<FlatRow>((row) => row, {
    isCompared: answer.range.comparison !== undefined,
    isSpread: isSpread(({ base }) => base),
  });
  return {
    head: {
      name: `${answer.project.domain}-breakdowns`,
      total: rows.length,
      range: answer.range,
      ...(answer.quality && { quality: answer.quality }),
    },
    columns: [
      { name: 'kind', type: 'text' },
      { name: 'value', type: 'text' },
      ...METRICS,
      ...compared.columns,
      sumPositionColumn(isSpread(({ now }) => now)),
    ],
    batches: [
      batchOf(rows, [
        ({ kind }) => kind,
        ({ name }) => name,
        ...metricReaders(({ metrics }: FlatRow) => metrics),
        ...compared.readers,
        ({ now }) => now && exactSum(now),
      ]),
    ],
  };
}
