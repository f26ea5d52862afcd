import { toMetrics } from '../domain/metrics.ts';
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
} from '../formats/rows.ts';
import { type Dimension, isTime } from '../model/tables.ts';
import type { QuestionResult } from './question.ts';
import type { QuestionRow } from './question-answer.ts';
import type { DimensionValues } from './question-names.ts';

interface Reader {
  readonly column: Column;
  readonly read: (row: QuestionRow) => Cell;
}

/** A row for each row, with a column for each dimension and metric. */
export function questionTable({
  head,
  batches,
  remainder,
  paging,
  quality,
  dimensions,
  valuesOf,
  metrics,
  isCompared,
}: QuestionResult): RowsAnswer {
  const readers = metricReaders<QuestionRow>(({ measures }) => toMetrics(measures));
  const measures = METRICS.map((column, at) => ({ column, read: readers[at]! }));
  const compared = comparedColumns<QuestionRow>(({ base = null, compared = null }) => ({ base, compared }), {
    isCompared,
  });
  const others = compared.columns.map((column, at) => ({ column, read: compared.readers[at]! }));
  const sums: Reader = { column: sumPositionColumn(), read: ({ measures }) => measures.sumPosition };
  const isAsked = ({ column: { name } }: Reader): boolean => {
    const metric =
      name === 'sum_position' || name === 'comparison_sum_position' ? 'position' : name.replace(/^.*_/, '');
    return metrics.some((one) => one === metric);
  };
  const columns = [
    ...dimensions.flatMap((dimension, at) => dimensionReaders(dimension, at, valuesOf[at]!)),
    ...[...measures, ...others, sums].filter(isAsked),
  ];
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
      batches(),
      columns.map(({ read }) => read),
    ),
  };
}

async function* batchesOf(
  batches: AsyncIterable<readonly QuestionRow[]>,
  readers: readonly Reader['read'][],
): AsyncGenerator<Batch> {
  for await (const rows of batches) yield batchOf(rows, readers);
}

function dimensionReaders(dimension: Dimension, at: number, values: DimensionValues): Reader[] {
  const value = ({ names }: QuestionRow) => values?.get(names[at]!) ?? names[at]!;
  const text = (row: QuestionRow): Cell => value(row) as string;
  if (isTime(dimension)) {
    const days: Reader = { column: DAY_COUNT, read: (row) => row.days ?? null };
    return [{ column: { name: dimension, type: 'day' }, read: text }, ...(dimension === 'date' ? [] : [days])];
  }
  if (dimension !== 'group' && dimension !== 'pageGroup')
    return [{ column: { name: dimension, type: 'text' }, read: text }];
  return (['id', 'name'] as const).map((part) => ({
    column: { name: `${dimension}_${part}`, type: 'text' },
    read: (row) => (value(row) as { id: string; name: string })[part],
  }));
}
