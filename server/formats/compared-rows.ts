import { type Compared, METRIC_NAMES } from '../domain/comparison.ts';
import type { ExactMeasures } from '../domain/metrics.ts';
import { type Cell, type Column, METRICS, sumPositionColumn } from './rows.ts';

/** A row with what it is compared with. */
export interface ComparedRow {
  /** The sums of the other range; null where positions are unknown. */
  readonly base: ExactMeasures | null;
  readonly compared: Compared | null;
}

/** The columns of a comparison, and how to read them of a row; none without one. */
export interface ComparedColumns<Row> {
  readonly columns: readonly Column[];
  readonly readers: readonly ((row: Row) => Cell)[];
}

const NAMES: readonly Column[] = [
  ...METRICS.map(({ name, type }) => ({ name: `comparison_${name}`, type })),
  ...METRIC_NAMES.flatMap((name): Column[] => [
    { name: `change_${name}`, type: name === 'clicks' || name === 'impressions' ? 'count' : 'ratio' },
    { name: `changeRatio_${name}`, type: 'ratio' },
  ]),
  ...METRIC_NAMES.map((name): Column => ({ name: `unsafe_${name}`, type: 'ids' })),
];

/**
 * The columns of a comparison.
 * @param isCompared whether there is one
 * @param isSpread whether a month was spread over its days
 */
export function comparedColumns<Row>(
  of: (row: Row) => ComparedRow,
  { isCompared, isSpread = false }: { readonly isCompared: boolean; readonly isSpread?: boolean },
): ComparedColumns<Row> {
  if (!isCompared) return { columns: [], readers: [] };
  const read =
    (cell: (compared: Compared) => Cell) =>
    (row: Row): Cell => {
      const { compared } = of(row);
      return compared && cell(compared);
    };
  return {
    columns: [...NAMES, { ...sumPositionColumn(isSpread), name: 'comparison_sum_position' }],
    readers: [
      ...METRIC_NAMES.map((name) => read(({ comparison }) => comparison[name])),
      ...METRIC_NAMES.flatMap((name) => [
        read(({ change }) => change[name].difference),
        read(({ change }) => change[name].ratio),
      ]),
      ...METRIC_NAMES.map((name) => read(({ unsafe }) => unsafe[name] ?? [])),
      (row) => {
        const { base } = of(row);
        return base && exactSum(base);
      },
    ],
  };
}

/** The position sum, as exact as a double is. */
export function exactSum({ sumPosition, fraction }: ExactMeasures): number {
  return fraction === undefined ? sumPosition : sumPosition + Number(fraction.numerator) / Number(fraction.denominator);
}
