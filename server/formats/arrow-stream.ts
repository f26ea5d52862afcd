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
import type { Batch, Cell, Column } from './rows.ts';

/** Rows of one record batch: some 500 kB, and a few milliseconds of work. */
const ROWS = 8192;
/** Milliseconds. */
const DAY = 86_400_000;

type ReadCell = (row: number) => Cell;

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

/** Writes batches of rows as the bytes of an Arrow stream, a part at a time. */
export class ArrowStream {
  readonly #columns: readonly Column[];
  readonly #schema: Schema;
  readonly #writer = new PartWriter();

  /** @param metadata of the schema */
  constructor(columns: readonly Column[], metadata: Readonly<Record<string, string>>) {
    this.#columns = columns;
    const fields = columns.map(({ name, type }) => new Field(name, TYPES[type](), true));
    this.#schema = new Schema(fields, new Map(Object.entries(metadata)));
    this.#writer.reset(undefined, this.#schema);
  }

  /** The bytes of a batch, in parts. */
  *write({ length, cells }: Batch): Generator<Buffer, void> {
    for (let start = 0; start < length; start += ROWS) {
      const rows = Math.min(ROWS, length - start);
      const children = this.#columns.map(({ type }, index) =>
        columnData(type, rows, (row) => cells[index]!(start + row)),
      );
      const type = new Struct(this.#schema.fields);
      this.#writer.write(new RecordBatch(this.#schema, makeData({ type, length: rows, children })));
      yield this.#writer.take();
    }
  }

  /** The last bytes; without any batch, the schema too. */
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

function columnData(type: Column['type'], length: number, cell: ReadCell): Data {
  if (type === 'text') return makeData({ type: new Utf8(), length, ...validity(length, cell), ...texts(length, cell) });
  if (type === 'ids') return listData(length, cell);
  if (type === 'boolean') {
    const data = bits(length, (row) => cell(row) === true);
    return makeData({ type: new Bool(), length, ...validity(length, cell), data });
  }
  const data = numbers(type, length, cell);
  return makeData({ type: TYPES[type](), length, ...validity(length, cell), data } as never);
}

function numbers(type: Column['type'], length: number, cell: ReadCell): Float64Array | Int32Array | BigInt64Array {
  if (type === 'day')
    return Int32Array.from({ length }, (_, row) => Date.parse(String(cell(row) ?? '1970-01-01')) / DAY);
  if (type === 'instant') {
    return BigInt64Array.from({ length }, (_, row) => BigInt(Date.parse(String(cell(row) ?? '1970-01-01'))));
  }
  if (type === 'count') return BigInt64Array.from({ length }, (_, row) => BigInt(Number(cell(row) ?? 0)));
  return Float64Array.from({ length }, (_, row) => Number(cell(row) ?? 0));
}

/** Nulls, a bit for each row that has a value. */
function validity(length: number, cell: ReadCell): { nullCount: number; nullBitmap?: Uint8Array } {
  let nullCount = 0;
  for (let row = 0; row < length; row++) if (cell(row) === null) nullCount++;
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bits(length, (row) => cell(row) !== null) };
}

function bits(length: number, isSet: (row: number) => boolean): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(length / 8));
  for (let row = 0; row < length; row++) if (isSet(row)) bytes[row >> 3]! |= 1 << (row & 7);
  return bytes;
}

function texts(length: number, cell: ReadCell): { valueOffsets: Int32Array; data: Uint8Array } {
  const valueOffsets = new Int32Array(length + 1);
  const values: string[] = [];
  let end = 0;
  let last: Cell = null;
  let bytes = 0;
  for (let row = 0; row < length; row++) {
    const value = cell(row);
    // Texts come many times in a row, such as the query of each day.
    if (value !== last) {
      last = value;
      bytes = value === null ? 0 : Buffer.byteLength(value as string);
    }
    if (value !== null) values.push(value as string);
    end += bytes;
    valueOffsets[row + 1] = end;
  }
  return { valueOffsets, data: Buffer.from(values.join('')) };
}

function listData(length: number, cell: ReadCell): Data {
  const valueOffsets = new Int32Array(length + 1);
  const items: string[] = [];
  for (let row = 0; row < length; row++) {
    items.push(...((cell(row) ?? []) as readonly string[]));
    valueOffsets[row + 1] = items.length;
  }
  const child = columnData('text', items.length, (row) => items[row]!);
  const type = TYPES.ids() as List<Utf8>;
  return makeData({ type, length, ...validity(length, cell), valueOffsets, child: child as Data<Utf8> });
}
