import {
  Bool,
  type Data,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int64,
  List,
  makeData,
  TimestampMillisecond,
  Utf8,
} from 'apache-arrow';
import { setInt64 } from './int64.ts';
import type { Cell, Column } from './rows.ts';

/** Milliseconds. */
const DAY = 86_400_000;

const TYPES: Readonly<Record<Column['type'], () => DataType>> = {
  text: () => new Utf8(),
  ids: () => new List(new Field('item', new Utf8(), false)),
  day: () => new DateDay(),
  instant: () => new TimestampMillisecond('UTC'),
  count: () => new Int64(),
  ratio: () => new Float64(),
  share: () => new Float64(),
  boolean: () => new Bool(),
};

export function arrowType(type: Column['type']): DataType {
  return TYPES[type]();
}

type ReadCell = (row: number) => Cell;

/** A column of some rows. Each cell is read once. */
export function columnData(type: Column['type'], length: number, cell: ReadCell): Data {
  if (type === 'text') return textData(length, cell);
  if (type === 'ids') return listData(length, cell);
  const [data, put] = NUMBERS[type](length);
  const validity = readEach(length, cell, put);
  return makeData({ type: arrowType(type), length, ...validity, data } as never);
}

type Put = (row: number, value: NonNullable<Cell>) => void;
type NumberType = Exclude<Column['type'], 'text' | 'ids'>;

/** The values of a column, and how to set one of them. */
const NUMBERS: Readonly<Record<NumberType, (length: number) => [data: ArrayBufferView, put: Put]>> = {
  day: (length) => {
    const days = new Int32Array(length);
    const parse = remembered((day) => Date.parse(day) / DAY);
    return [days, (row, value) => (days[row] = parse(value as string))];
  },
  instant: (length) => {
    const halves = new Int32Array(2 * length);
    const parse = remembered(Date.parse);
    return [new BigInt64Array(halves.buffer), (row, value) => setInt64(halves, row, parse(value as string))];
  },
  count: (length) => {
    const halves = new Int32Array(2 * length);
    return [new BigInt64Array(halves.buffer), (row, value) => setInt64(halves, row, value as number)];
  },
  ratio: doubles,
  share: doubles,
  boolean: (length) => {
    const bits = new Uint8Array(Math.ceil(length / 8));
    return [bits, (row, value) => value === true && setBit(bits, row)];
  },
};

function doubles(length: number): [data: Float64Array, put: Put] {
  const values = new Float64Array(length);
  return [values, (row, value) => (values[row] = value as number)];
}

/** Days repeat with each keyword, and parsing one takes 200 ns. */
function remembered(parse: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) {
      value = parse(text);
      known.set(text, value);
    }
    return value;
  };
}

interface Validity {
  readonly nullCount: number;
  /** A bit for each row that has a value. */
  readonly nullBitmap?: Uint8Array;
}

/** Passes each cell that has a value to `put`. */
function readEach(length: number, cell: ReadCell, put: Put): Validity {
  const nullBitmap = new Uint8Array(Math.ceil(length / 8));
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    const value = cell(row);
    if (value === null) {
      nullCount++;
      continue;
    }
    setBit(nullBitmap, row);
    put(row, value);
  }
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap };
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3]! |= 1 << (at & 7);
}

/** Texts often come many times in a row, such as the query of each day: then they are encoded once. */
function textData(length: number, cell: ReadCell): Data<Utf8> {
  const valueOffsets = new Int32Array(length + 1);
  let bytes = Buffer.allocUnsafeSlow(32 * length);
  let end = 0;
  let nextRow = 0;
  const skipTo = (row: number): void => {
    for (; nextRow <= row; nextRow++) valueOffsets[nextRow] = end;
  };
  let last: Cell = null;
  let size = 0;
  const validity = readEach(length, cell, (row, value) => {
    skipTo(row);
    const text = value as string;
    const max = text === last ? size : 3 * text.length;
    if (end + max > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (end + max));
      bytes.copy(larger, 0, 0, end);
      bytes = larger;
    }
    if (text === last) bytes.copyWithin(end, end - size, end);
    else size = bytes.write(text, end);
    last = text;
    end += size;
  });
  skipTo(length);
  return makeData({ type: new Utf8(), length, ...validity, valueOffsets, data: bytes.subarray(0, end) });
}

function listData(length: number, cell: ReadCell): Data {
  const valueOffsets = new Int32Array(length + 1);
  const items: string[] = [];
  const validity = readEach(length, cell, (row, value) => {
    items.push(...(value as readonly string[]));
    valueOffsets[row + 1] = items.length;
  });
  // Rows without a list end where the row before them ends.
  for (let row = 1; row <= length; row++) valueOffsets[row] = Math.max(valueOffsets[row]!, valueOffsets[row - 1]!);
  const child = textData(items.length, (row) => items[row]!);
  return makeData({ type: arrowType('ids') as List<Utf8>, length, ...validity, valueOffsets, child });
}
