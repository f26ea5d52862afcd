import type { Compared } from '../domain/comparison.ts';
import { NOTHING } from '../domain/metrics.ts';
import {
  type Batch,
  batchOf,
  type Cell,
  type Column,
  type ComparedRow,
  comparedColumns,
  exactSum,
  METRICS,
  type RowsAnswer,
  sumPositionColumn,
} from '../formats/rows.ts';
import type { ListResult } from './lists.ts';

const COLUMNS: Readonly<Record<ListResult['kind'], readonly Column[]>> = {
  pages: [{ name: 'url', type: 'text' }, ...METRICS],
  queries: [
    { name: 'query', type: 'text' },
    ...METRICS,
    { name: 'branded', type: 'boolean' },
    { name: 'trackedKeywordId', type: 'text' },
  ],
};

/** The rows of a page or query list, read while they are written. */
export function listRows(result: ListResult): RowsAnswer {
  const { head, kind } = result;
  const { project, range, quality, paging } = head;
  const compared = comparedColumns<RenderedRow>((row) => row, { isCompared: range.comparison !== undefined });
  const readers = [
    ...COLUMNS[kind].map(
      ({ name }) =>
        ({ cells }: RenderedRow): Cell =>
          cells[name] ?? null,
    ),
    ...compared.readers,
    ({ sumPosition }: RenderedRow) => sumPosition,
  ];
  return {
    head: { name: `${project.domain}-${kind}`, total: paging.total, range, ...(quality && { quality }) },
    columns: [...COLUMNS[kind], ...compared.columns, sumPositionColumn()],
    batches: listBatches(result, readers),
  };
}

interface RenderedRow extends ComparedRow {
  readonly cells: Readonly<Record<string, Cell>>;
  readonly sumPosition: number | null;
}

async function* listBatches(
  { rows, render, hasPositions }: ListResult,
  readers: readonly ((row: RenderedRow) => Cell)[],
): AsyncGenerator<Batch> {
  for await (const part of rows ?? []) {
    const rendered = part.map((row): RenderedRow => {
      const cells = render(row) as RenderedRow['cells'] & Compared;
      if (!hasPositions) return { cells, compared: cells, sumPosition: null, base: null };
      return { cells, compared: cells, sumPosition: exactSum(row), base: row.base ?? NOTHING };
    });
    yield batchOf(rendered, readers);
  }
}
