import type { BreakdownsResult } from '../reports/breakdowns.ts';
import { batchOf, METRICS, type RowsAnswer, sumPositionColumn } from './rows.ts';

interface BreakdownRow {
  readonly kind: 'country' | 'device' | 'appearance' | 'segment';
  readonly value: string;
  readonly metrics: {
    readonly clicks: number;
    readonly impressions: number;
    readonly ctr?: number | null;
    readonly position?: number | null;
  };
  /** Null for anonymous queries, whose positions are unknown. */
  readonly sumPosition: number | null;
}

/** All breakdowns in one table: the breakdown of each row, and its value. */
export function breakdownRows({ answer, found }: BreakdownsResult): RowsAnswer {
  const { countries, devices, appearances, brand, brandSums } = found;
  const named = (kind: BreakdownRow['kind'], rows: typeof countries): BreakdownRow[] =>
    rows.map(({ name, metrics, sumPosition }) => ({ kind, value: name, metrics, sumPosition }));
  const segment = (value: keyof typeof brand, sumPosition: number | null): BreakdownRow => ({
    kind: 'segment',
    value,
    metrics: brand[value],
    sumPosition,
  });
  const rows = [
    ...named('country', countries),
    ...named('device', devices),
    ...named('appearance', appearances),
    segment('brand', brandSums.brand),
    segment('nonBrand', brandSums.nonBrand),
    segment('anonymous', null),
  ];
  const isSpread = rows.some(({ sumPosition }) => sumPosition !== null && !Number.isInteger(sumPosition));
  return {
    head: { name: `${answer.project.domain}-breakdowns`, total: rows.length, range: answer.range },
    columns: [{ name: 'kind', type: 'text' }, { name: 'value', type: 'text' }, ...METRICS, sumPositionColumn(isSpread)],
    batches: [
      batchOf(rows, [
        ({ kind }) => kind,
        ({ value }) => value,
        ({ metrics }) => metrics.clicks,
        ({ metrics }) => metrics.impressions,
        ({ metrics }) => metrics.ctr ?? null,
        ({ metrics }) => metrics.position ?? null,
        ({ sumPosition }) => sumPosition,
      ]),
    ],
  };
}
