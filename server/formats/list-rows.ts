import type { ListResult } from '../reports/lists.ts';
import { type Batch, batchOf, type Cell, type Column, METRICS, type RowsAnswer, sumPositionColumn } from './rows.ts';

const COLUMNS: Readonly<Record<ListResult['kind'], readonly Column[]>> = {
  pages: [{ name: 'url', type: 'text' }, ...METRICS, sumPositionColumn()],
  queries: [
    { name: 'query', type: 'text' },
    ...METRICS,
    { name: 'branded', type: 'boolean' },
    { name: 'trackedKeywordId', type: 'text' },
    sumPositionColumn(),
  ],
};

/** The rows of a page or query list, read while they are written. */
export function listRows(result: ListResult): RowsAnswer {
  const { head, kind } = result;
  const { project, range, paging } = head;
  return {
    head: { name: `${project.domain}-${kind}`, total: paging.total, range },
    columns: COLUMNS[kind],
    batches: listBatches(result),
  };
}

async function* listBatches({ kind, rows, render }: ListResult): AsyncGenerator<Batch> {
  for await (const part of rows ?? []) {
    const rendered: Readonly<Record<string, Cell>>[] = part.map((row) => ({
      ...render(row),
      sum_position: row.sumPosition,
    }));
    yield batchOf(
      rendered,
      COLUMNS[kind].map(
        ({ name }) =>
          (row) =>
            row[name] ?? null,
      ),
    );
  }
}
