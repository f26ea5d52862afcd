import { reportExternalBytes } from '../runtime/external-memory.ts';
import { Piece, TextBytes } from '../runtime/text-bytes.ts';
import { type Cell, type Cells, type Column, cellReader, plainColumns, type Rows } from './rows.ts';

/** Bytes per chunk. */
const CHUNK = 64 * 1024;

interface TextFormat extends Rows {
  /** The text before all rows. */
  readonly start: string;
  /** How the cells of a column are written, except numbers, which are the same in all formats. */
  readonly field: (column: Column) => (cell: Cell) => string;
  /** The text before a cell. */
  readonly open: (index: number, column: Column) => string;
  /** The text after each row. */
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
  const end = new Piece(close);
  const writers = plainColumns(columns).map(({ column, index }, place) => ({
    index,
    writer: cellWriter(bytes, column, field(column), open(place, column)),
  }));
  bytes.text(start);
  for await (const { length, cells } of batches) {
    const fields = writers.map(({ index, writer }) => writer(cells[index]!));
    for (let row = 0; row < length; row++) {
      for (const write of fields) write(row);
      bytes.piece(end);
      if (bytes.length >= CHUNK) yield take();
    }
  }
  if (bytes.length > 0) yield take();
}

/** Writes the cells of a column, by row. */
type Writer = (cells: Cells) => (row: number) => void;
type WriteCell = (cell: Cell) => void;

/** @param before the text before each cell */
function cellWriter(bytes: TextBytes, { type }: Column, field: (cell: Cell) => string, before: string): Writer {
  if (type === 'count') return numberWriter(bytes, (value) => bytes.number(value), before, before + field(null));
  if (type === 'ratio' || type === 'share')
    return numberWriter(bytes, (value) => bytes.fraction(value), before, before + field(null));
  const text = (cell: Cell): string => before + field(cell);
  const write = type === 'day' ? dayWriter(bytes, text) : textWriter(bytes, text);
  return (cells) => {
    const read = cellReader(cells);
    return (row) => write(read(row));
  };
}

function numberWriter(bytes: TextBytes, number: (value: number) => void, before: string, none: string): Writer {
  const [start, empty] = [new Piece(before), new Piece(none)];
  const write = (value: number): void => {
    bytes.piece(start);
    number(value);
  };
  return (cells) => {
    if (typeof cells !== 'function') {
      return (row) => {
        const value = cells[row]!;
        if (Number.isNaN(value)) bytes.piece(empty);
        else write(value);
      };
    }
    return (row) => {
      const value = cells(row);
      if (value === null) bytes.piece(empty);
      else write(value as number);
    };
  };
}

/** Caches texts: days repeat with each keyword. */
function dayWriter(bytes: TextBytes, write: (cell: Cell) => string): WriteCell {
  const written = new Map<Cell, Piece>();
  return (cell) => {
    let day = written.get(cell);
    if (day === undefined) {
      day = new Piece(write(cell));
      written.set(cell, day);
    }
    bytes.piece(day);
  };
}

/** A text that repeats in consecutive rows, such as the query of each day, is escaped and encoded once. */
function textWriter(bytes: TextBytes, write: (cell: Cell) => string): WriteCell {
  let last: Cell = null;
  let text = write(null);
  let again: Piece | undefined;
  return (cell) => {
    if (cell === last) {
      again ??= new Piece(text);
      bytes.piece(again);
      return;
    }
    last = cell;
    text = write(cell);
    again = undefined;
    bytes.text(text);
  };
}
