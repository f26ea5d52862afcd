import { Field, makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';
import { reportExternalBytes } from '../runtime/external-memory.ts';
import { arrowType, columnMaker, type MakeColumn } from './arrow-columns.ts';
import type { Batch, Column } from './rows.ts';

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
