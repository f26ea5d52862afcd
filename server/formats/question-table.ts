import type { Dimension } from '../domain/grains.ts';
import { isTime } from '../domain/grains.ts';
import { toMetrics } from '../domain/metrics.ts';
import type { QuestionResult } from '../reports/question.ts';
import { metricsOf, type QuestionRow } from '../reports/question-answer.ts';
import {
  type Batch,
  batchOf,
  type Cell,
  type Column,
  comparedColumns,
  DAY_COUNT,
  METRICS,
  metricReaders,
  type RowsAnswer,
  sumPositionColumn,
} from './rows.ts';

/** The answer as a JSON value. */
export function questionAnswer({
  head,
  rows,
  totals,
  remainder,
  paging,
  quality,
  dimensions,
  metrics,
}: QuestionResult) {
  return {
    ...head,
    ...(totals === undefined ? {} : { totals: totals && metricsOf(totals, metrics) }),
    remainder,
    paging,
    ...quality,
    rows: rows.map((row) => Object.assign(namesOf(row, dimensions), metricsOf(row, metrics))),
  };
}

function namesOf({ values, days }: QuestionRow, dimensions: readonly Dimension[]): object {
  const names: Record<string, unknown> = {};
  for (const [at, dimension] of dimensions.entries()) names[dimension] = values[at];
  if (days !== undefined) names['days'] = days;
  return names;
}

interface Reader {
  readonly column: Column;
  readonly read: (row: QuestionRow) => Cell;
}

/** A row for each row, with a column for each dimension and metric. */
export function questionTable({
  head,
  parts,
  remainder,
  paging,
  quality,
  dimensions,
  metrics,
  isCompared,
}: QuestionResult): RowsAnswer {
  const readers = metricReaders<QuestionRow>(({ now }) => toMetrics(now));
  const measures = METRICS.map((column, at) => ({ column, read: readers[at]! }));
  const compared = comparedColumns<QuestionRow>((row) => row, { isCompared });
  const others = compared.columns.map((column, at) => ({ column, read: compared.readers[at]! }));
  const sums: Reader = { column: sumPositionColumn(), read: ({ now }) => now.sumPosition };
  const isAsked = ({ column: { name } }: Reader): boolean => {
    const metric =
      name === 'sum_position' || name === 'comparison_sum_position' ? 'position' : name.replace(/^.*_/, '');
    return metrics.some((one) => one === metric);
  };
  const columns = [...dimensions.flatMap(dimensionReaders), ...[...measures, ...others, sums].filter(isAsked)];
  return {
    head: {
      name: `${head.project.domain}-query`,
      total: paging.total,
      range: head.range,
      remainder,
      ...quality,
    },
    columns: columns.map(({ column }) => column),
    batches: batchesOf(
      parts(),
      columns.map(({ read }) => read),
    ),
  };
}

async function* batchesOf(
  parts: AsyncIterable<readonly QuestionRow[]>,
  readers: readonly Reader['read'][],
): AsyncGenerator<Batch> {
  for await (const rows of parts) yield batchOf(rows, readers);
}

function dimensionReaders(dimension: Dimension, at: number): Reader[] {
  const text = ({ values }: QuestionRow): Cell => values[at] as string;
  if (isTime(dimension)) {
    const days: Reader = { column: DAY_COUNT, read: (row) => row.days ?? null };
    return [{ column: { name: dimension, type: 'day' }, read: text }, ...(dimension === 'date' ? [] : [days])];
  }
  if (dimension !== 'group' && dimension !== 'pageGroup')
    return [{ column: { name: dimension, type: 'text' }, read: text }];
  return (['id', 'name'] as const).map((part) => ({
    column: { name: `${dimension}_${part}`, type: 'text' },
    read: ({ values }) => (values[at] as { id: string; name: string })[part],
  }));
}
