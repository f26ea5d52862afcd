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
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
} from 'apache-arrow';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { setInt64 } from './int64.ts';
import { type Batch, type Cell, type Cells, type Column, cellReader } from './rows.ts';

/** Rows of one record batch: some 500 kB, and a few milliseconds of work. */
const ROWS = 8192;

/** Writes batches of rows as the bytes of an Arrow stream, a part at a time. */
export class ArrowStream {
  readonly #columns: readonly MakeColumn[];
  readonly #schema: Schema;
  readonly #writer = new PartWriter();

  /** @param metadata of the schema */
  constructor(columns: readonly Column[], metadata: Readonly<Record<string, string>>) {
    this.#columns = columns.map(({ type }) => columnMaker(type, ROWS));
    const fields = columns.map(({ name, type }) => new Field(name, arrowType(type), true));
    this.#schema = new Schema(fields, new Map(Object.entries(metadata)));
    this.#writer.reset(undefined, this.#schema);
  }

  /** The bytes of a batch, in parts. */
  *write({ length, cells }: Batch): Generator<Buffer, void> {
    for (let start = 0; start < length; start += ROWS) {
      const rows = Math.min(ROWS, length - start);
      const children = this.#columns.map((make, index) => make(cells[index]!, start, rows));
      const type = new Struct(this.#schema.fields);
      this.#writer.write(new RecordBatch(this.#schema, makeData({ type, length: rows, children })));
      const bytes = this.#writer.take();
      reportExternalBytes(bytes.length);
      yield bytes;
    }
  }

  /** The last bytes, with the schema if there was no batch. */
  end(): Buffer {
    this.#writer.reset();
    return this.#writer.take();
  }
}

/** Returns the bytes written so far; the package's own queue would hold all of them for a slow client. */
class PartWriter extends RecordBatchStreamWriter {
  #parts: Uint8Array[] = [];

  take(): Buffer {
    const taken = Buffer.concat(this.#parts);
    this.#parts = [];
    return taken;
  }

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started && chunk.byteLength > 0) {
      this.#parts.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      this._position += chunk.byteLength;
    }
    return this;
  }
}

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

function arrowType(type: Column['type']): DataType {
  return TYPES[type]();
}

/**
 * Makes a column of rows from `start` on, and reads each cell once. The next call overwrites its bytes: with new memory
 * for each batch, garbage collection would take as long as the batches.
 */
type MakeColumn = (cells: Cells, start: number, length: number) => Data;

/** @param max rows of a column */
function columnMaker(type: Column['type'], max: number): MakeColumn {
  if (type === 'text') return textColumn(max);
  if (type === 'ids') return listColumn(max);
  const fill = NUMBERS[type](max);
  const arrow = arrowType(type);
  const validity = new Validity(max);
  return (cells, start, length) => {
    validity.reset();
    const data = fill(cells, start, length, validity);
    return makeData({ type: arrow, length, ...validity.of(length), data } as never);
  };
}

/** Which rows have a value. */
class Validity {
  readonly #bits: Uint8Array;
  #nulls = 0;

  constructor(max: number) {
    this.#bits = new Uint8Array(Math.ceil(max / 8));
  }

  reset(): void {
    this.#bits.fill(0xff);
    this.#nulls = 0;
  }

  setNull(row: number): void {
    this.#bits[row >> 3]! &= ~(1 << (row & 7));
    this.#nulls++;
  }

  of(length: number): { readonly nullCount: number; readonly nullBitmap?: Uint8Array } {
    if (this.#nulls === 0) return { nullCount: 0 };
    return { nullCount: this.#nulls, nullBitmap: this.#bits.subarray(0, Math.ceil(length / 8)) };
  }
}

type NumberType = Exclude<Column['type'], 'text' | 'ids'>;
/** Returns the values of rows. The value at a null is ignored. */
type Fill = (cells: Cells, start: number, length: number, validity: Validity) => ArrayBufferView;
type Put = (row: number, value: NonNullable<Cell>) => void;

const NUMBERS: Readonly<Record<NumberType, (max: number) => Fill>> = {
  day: (max) => {
    const days = new Int32Array(max);
    const parse = remembered((day) => Date.parse(day) / DAY);
    const put: Put = (row, value) => {
      days[row] = parse(value as string);
    };
    return (cells, start, length, validity) => {
      readEach(cells, start, length, validity, put);
      return days.subarray(0, length);
    };
  },
  instant: (max) => {
    const parse = remembered(Date.parse);
    return int64s(max, (value) => parse(value as string));
  },
  count: (max) => int64s(max, Number),
  ratio: doubles,
  share: doubles,
  boolean: (max) => {
    const bits = new Uint8Array(Math.ceil(max / 8));
    const put: Put = (row, value) => {
      if (value === true) bits[row >> 3]! |= 1 << (row & 7);
    };
    return (cells, start, length, validity) => {
      bits.fill(0);
      readEach(cells, start, length, validity, put);
      return bits.subarray(0, Math.ceil(length / 8));
    };
  },
};

function int64s(max: number, toNumber: (value: NonNullable<Cell>) => number): Fill {
  const halves = new Int32Array(2 * max);
  const put: Put = (row, value) => setInt64(halves, row, toNumber(value));
  return (cells, start, length, validity) => {
    if (typeof cells === 'function') readEach(cells, start, length, validity, put);
    else {
      for (let row = 0; row < length; row++) {
        const value = cells[start + row]!;
        if (Number.isNaN(value)) validity.setNull(row);
        else setInt64(halves, row, value);
      }
    }
    return new BigInt64Array(halves.buffer, 0, length);
  };
}

function doubles(max: number): Fill {
  const values = new Float64Array(max);
  const put: Put = (row, value) => {
    values[row] = value as number;
  };
  return (cells, start, length, validity) => {
    if (typeof cells === 'function') {
      readEach(cells, start, length, validity, put);
      return values.subarray(0, length);
    }
    for (let row = 0; row < length; row++) if (Number.isNaN(cells[start + row])) validity.setNull(row);
    return cells.subarray(start, start + length);
  };
}

/** Passes each cell that has a value to `put`. */
function readEach(cells: Cells, start: number, length: number, validity: Validity, put: Put): void {
  const read = cellReader(cells);
  for (let row = 0; row < length; row++) {
    const value = read(start + row);
    if (value === null) validity.setNull(row);
    else put(row, value);
  }
}

/** Caches results: days repeat with each keyword, and parsing one takes 200 ns. */
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

/** Encodes texts; a text that repeats in consecutive rows, such as the query of each day, is encoded once. */
function textColumn(max: number): (...rows: Parameters<MakeColumn>) => Data<Utf8> {
  const type = new Utf8();
  const validity = new Validity(max);
  const offsets = new Int32Array(max + 1);
  const texts = new Texts(32 * max);
  return (cells, start, length) => {
    validity.reset();
    texts.clear();
    const read = cellReader(cells);
    let last: Cell = null;
    for (let row = 0; row < length; row++) {
      offsets[row] = texts.length;
      const value = read(start + row);
      if (value === null) validity.setNull(row);
      else if (value === last) texts.repeat();
      else texts.add(value as string);
      last = value ?? last;
    }
    offsets[length] = texts.length;
    const valueOffsets = offsets.subarray(0, length + 1);
    return makeData({ type, length, ...validity.of(length), valueOffsets, data: texts.take() });
  };
}

/** Concatenated texts, as bytes. */
class Texts {
  /** Bytes of all texts. */
  length = 0;
  #bytes: Buffer;
  /** Bytes of the last text. */
  #size = 0;
  /** How often the last text repeats; the copies are written when another text follows. */
  #more = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  clear(): void {
    this.length = 0;
    this.#more = 0;
  }

  add(text: string): void {
    this.#repeatLast();
    this.#reserve(this.length + 3 * text.length);
    this.#size = this.#bytes.write(text, this.length);
    this.length += this.#size;
  }

  /** Repeats the last text. */
  repeat(): void {
    this.#more++;
    this.length += this.#size;
  }

  /** All bytes, until the next call of `clear`. */
  take(): Buffer {
    this.#repeatLast();
    return this.#bytes.subarray(0, this.length);
  }

  /** Copies twice as much each time. */
  #repeatLast(): void {
    if (this.#more === 0) return;
    this.#reserve(this.length);
    const start = this.length - (this.#more + 1) * this.#size;
    for (let end = start + this.#size; end < this.length; end += end - start) {
      this.#bytes.copyWithin(end, start, Math.min(end, start + this.length - end));
    }
    this.#more = 0;
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * length);
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

function listColumn(max: number): MakeColumn {
  const type = arrowType('ids') as List<Utf8>;
  const validity = new Validity(max);
  const offsets = new Int32Array(max + 1);
  return (cells, start, length) => {
    validity.reset();
    const read = cellReader(cells);
    const items: string[] = [];
    for (let row = 0; row < length; row++) {
      const value = read(start + row) as readonly string[] | null;
      if (value === null) validity.setNull(row);
      else items.push(...value);
      offsets[row + 1] = items.length;
    }
    const child = textColumn(items.length)((item) => items[item]!, 0, items.length);
    return makeData({ type, length, ...validity.of(length), valueOffsets: offsets.subarray(0, length + 1), child });
  };
}
