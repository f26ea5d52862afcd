import { reportExternalBytes } from '../runtime/external-memory.ts';
import { Piece, TextBytes } from '../runtime/text-bytes.ts';
import { type Cell, type Cells, type Column, cellReader, plainColumns, type RowFormat, type Rows } from './rows.ts';

/** Spreadsheets evaluate texts that begin like this as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * CSV (RFC 4180) with a header line. Nulls are empty, ids are joined by spaces; texts that look like formulas get a
 * leading `'`.
 */
export const csv: RowFormat = {
  description: 'RFC 4180 with a header line. Texts that a spreadsheet would execute are prefixed with an apostrophe.',
  isText: true,
  write: ({ columns, batches }, { bom }) => {
    const header = plainColumns(columns).map(({ column }) => column.name);
    return textRows({
      start: `${bom ? '\ufeff' : ''}${header.join(',')}\r\n`,
      columns,
      batches,
      field: fieldWriter,
      open: (index) => (index === 0 ? '' : ','),
      close: '\r\n',
    });
  },
};

function fieldWriter({ type }: Column): (cell: Cell) => string {
  if (type === 'text') return (cell) => (cell === null ? '' : textField(String(cell)));
  if (type === 'ids') return (cell) => textField(((cell ?? []) as readonly string[]).join(' '));
  return (cell) => String(cell ?? '');
}

function textField(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One JSON object per line. */
export const ndjson: RowFormat = {
  description: 'A JSON object per row.',
  isText: true,
  write: ({ columns, batches }) =>
    textRows({
      start: '',
      columns,
      batches,
      field: () => JSON.stringify,
      open: (index, { name }) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
      close: '}\n',
    }),
};

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
async function* textRows({ start, columns, batches, field, open, close }: TextFormat): AsyncGenerator<Buffer> {
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
