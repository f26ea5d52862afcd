import { type Cell, type Column, plainColumns, type Rows } from './rows.ts';

/** Characters per chunk. */
const CHUNK = 64 * 1024;

interface TextFormat extends Rows {
  /** What comes before all rows. */
  readonly start: string;
  /** How the cells of a column are written. */
  readonly field: (column: Column) => (cell: Cell) => string;
  /** What comes before a cell. */
  readonly open: (index: number, column: Column) => string;
  /** What comes after each row. */
  readonly close: string;
}

/** Writes rows as lines of text, in chunks. */
export async function* textRows({ start, columns, batches, field, open, close }: TextFormat): AsyncGenerator<Buffer> {
  const writers = plainColumns(columns).map(({ column, index }, place) => ({
    index,
    write: repeating(field(column), open(place, column), column),
  }));
  let text = start;
  for await (const { length, cells } of batches) {
    const fields = writers.map(({ index, write }) => ({ cell: cells[index]!, write }));
    for (let row = 0; row < length; row++) {
      for (const { cell, write } of fields) text += write(cell(row));
      text += close;
      if (text.length < CHUNK) continue;
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

/** Escapes repeated texts once, such as the query of each day. */
function repeating(write: (cell: Cell) => string, before: string, { type }: Column): (cell: Cell) => string {
  if (type !== 'text') return (cell) => before + write(cell);
  let last: Cell = null;
  let written = before + write(null);
  return (cell) => {
    if (cell !== last) {
      last = cell;
      written = before + write(cell);
    }
    return written;
  };
}
