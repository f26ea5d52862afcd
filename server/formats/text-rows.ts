import { reportExternalBytes } from '../runtime/external-memory.ts';
import { type Cell, type Column, plainColumns, type Rows } from './rows.ts';
import { TextBytes } from './text-bytes.ts';

/** Bytes per chunk. */
const CHUNK = 64 * 1024;

interface TextFormat extends Rows {
  /** What comes before all rows. */
  readonly start: string;
  /** How the cells of a column are written, except numbers: they are the same in all formats. */
  readonly field: (column: Column) => (cell: Cell) => string;
  /** What comes before a cell. */
  readonly open: (index: number, column: Column) => string;
  /** What comes after each row. */
  readonly close: string;
}

/** Writes rows as lines of text, in chunks. */
export async function* textRows({ start, columns, batches, field, open, close }: TextFormat): AsyncGenerator<Buffer> {
  const bytes = new TextBytes();
  const take = (): Buffer => {
    const taken = bytes.take();
    reportExternalBytes(taken.length);
    return taken;
  };
  const end = Buffer.from(close);
  const writers = plainColumns(columns).map(({ column, index }, place) => ({
    index,
    write: cellWriter(bytes, column, field(column), open(place, column)),
  }));
  bytes.text(start);
  for await (const { length, cells } of batches) {
    const fields = writers.map(({ index, write }) => ({ cell: cells[index]!, write }));
    for (let row = 0; row < length; row++) {
      for (const { cell, write } of fields) write(cell(row));
      bytes.copy(end);
      if (bytes.length >= CHUNK) yield take();
    }
  }
  if (bytes.length > 0) yield take();
}

type WriteCell = (cell: Cell) => void;

/** @param before what comes before each cell */
function cellWriter(bytes: TextBytes, { type }: Column, field: (cell: Cell) => string, before: string): WriteCell {
  if (type === 'count' || type === 'ratio' || type === 'share')
    return numberWriter(bytes, before, before + field(null));
  const write = (cell: Cell): string => before + field(cell);
  return type === 'day' ? dayWriter(bytes, write) : textWriter(bytes, write);
}

function numberWriter(bytes: TextBytes, before: string, none: string): WriteCell {
  const [start, empty] = [Buffer.from(before), Buffer.from(none)];
  return (cell) => {
    if (cell === null) {
      bytes.copy(empty);
      return;
    }
    bytes.copy(start);
    bytes.number(cell as number);
  };
}

/** Days come again with each keyword. */
function dayWriter(bytes: TextBytes, write: (cell: Cell) => string): WriteCell {
  const written = new Map<Cell, Buffer>();
  return (cell) => {
    let day = written.get(cell);
    if (day === undefined) {
      day = Buffer.from(write(cell));
      written.set(cell, day);
    }
    bytes.copy(day);
  };
}

/** Texts come many times in a row, such as the query of each day: then they are escaped and encoded once. */
function textWriter(bytes: TextBytes, write: (cell: Cell) => string): WriteCell {
  let last: Cell = null;
  let text = write(null);
  let again: Buffer | undefined;
  return (cell) => {
    if (cell === last) {
      again ??= Buffer.from(text);
      bytes.copy(again);
      return;
    }
    last = cell;
    text = write(cell);
    again = undefined;
    bytes.text(text);
  };
}
