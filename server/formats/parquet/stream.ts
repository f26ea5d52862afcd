import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { reportExternalBytes } from '../../runtime/external-memory.ts';
import { inTurns } from '../../runtime/turns.ts';
import type { Batch, Column } from '../rows.ts';
import type { Chunk, ColumnChunks } from './chunk.ts';
import { columnChunks } from './columns.ts';
import { fileIndex, type PlacedChunk, pageHeader, type RowGroup } from './metadata.ts';
import { Output } from './output.ts';

/** Max rows of a group, and so in memory at a time. */
const ROWS = 65_536;
/** The first group is small, so that a response starts early. */
const FIRST_ROWS = 16_384;
/** Max characters of texts of a group. */
const CHARACTERS = 4_000_000;
/** Rows read per step: some 50 µs. */
const ROWS_PER_STEP = 256;
/** Bytes that most pages need, compressed or not. */
const PAGE = 65_536;

const MAGIC = Buffer.from('PAR1');
const compressAsync = promisify(zstdCompress);
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Writes batches of rows as the bytes of a Parquet file, a group of rows at a time. */
export class ParquetStream {
  readonly #columns: readonly Column[];
  readonly #chunks: readonly ColumnChunks[];
  /** Of the column that is encoded and of the one before it, which is compressed meanwhile. */
  readonly #outputs = [new Output(PAGE), new Output(PAGE)];
  readonly #groups: RowGroup[] = [];
  /** Rows of the current group. */
  #rows = 0;
  /** Bytes written. */
  #position = 0;

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#chunks = columns.map(({ type }) => columnChunks(type, ROWS));
  }

  start(): Buffer {
    this.#position = MAGIC.length;
    return MAGIC;
  }

  /** The bytes of groups that are complete. */
  async *write(batch: Batch): AsyncGenerator<Buffer, void> {
    for (let from = 0; from < batch.length; ) {
      from = await inTurns(this.#add(batch, from));
      if (this.#isFull()) yield* this.#group();
    }
  }

  /** The last group and the index. */
  async *end(metadata: Readonly<Record<string, string>>): AsyncGenerator<Buffer, void> {
    if (this.#rows > 0) yield* this.#group();
    const index = fileIndex(this.#columns, this.#groups, metadata);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(index.length);
    yield Buffer.concat([index, length, MAGIC]);
  }

  /** Adds rows of a batch to the group until it is full; returns the next row. */
  *#add({ length, cells }: Batch, first: number): Generator<void, number> {
    let from = first;
    while (from < length && !this.#isFull()) {
      const to = Math.min(length, from + ROWS_PER_STEP, from + this.#maxRows - this.#rows);
      for (const [index, chunks] of this.#chunks.entries()) chunks.add(cells[index]!, from, to);
      this.#rows += to - from;
      from = to;
      yield;
    }
    return from;
  }

  get #maxRows(): number {
    return this.#groups.length === 0 ? FIRST_ROWS : ROWS;
  }

  #isFull(): boolean {
    return (
      this.#rows === this.#maxRows || this.#chunks.reduce((sum, { characters }) => sum + characters, 0) > CHARACTERS
    );
  }

  /** Ends the group and yields its bytes. */
  async *#group(): AsyncGenerator<Buffer, void> {
    const placed: PlacedChunk[] = [];
    let compressing: Promise<Written> | undefined;
    for (const [index, column] of this.#chunks.entries()) {
      const next = compress(await inTurns(take(column, this.#outputs[index % 2]!)));
      // A rejection is thrown where it is awaited; if the client has left, it never is.
      next.catch(() => {});
      if (compressing !== undefined) yield* this.#bytesOf(await compressing, placed);
      compressing = next;
    }
    yield* this.#bytesOf(await compressing!, placed);
    this.#groups.push({ rows: this.#rows, chunks: placed });
    this.#rows = 0;
  }

  /** Yields the bytes of a column and notes where they are. */
  *#bytesOf({ chunk, dictionary, data, size }: Written, placed: PlacedChunk[]): Generator<Buffer, void> {
    const compressed = dictionary.length + data.length;
    placed.push({
      values: chunk.values,
      nulls: chunk.nulls,
      bounds: chunk.bounds,
      dictionaryAt: dictionary.length === 0 ? undefined : this.#position,
      dataAt: this.#position + dictionary.length,
      size,
      compressed,
    });
    this.#position += compressed;
    if (dictionary.length > 0) yield dictionary;
    yield data;
  }
}

function* take(column: ColumnChunks, output: Output): Generator<void, Chunk> {
  output.clear();
  const chunk = column.take(output);
  yield;
  return chunk;
}

interface Written {
  readonly chunk: Chunk;
  /** A page with its header; empty without a dictionary. */
  readonly dictionary: Buffer;
  readonly data: Buffer;
  /** Bytes before compression. */
  readonly size: number;
}

/** Compresses pages in the thread pool. */
async function compress(chunk: Chunk): Promise<Written> {
  const [dictionary, data] = await Promise.all([
    chunk.dictionary && page('dictionary', chunk, chunk.dictionary.bytes),
    page('data', chunk, chunk.page),
  ]);
  return {
    chunk,
    dictionary: dictionary?.bytes ?? Buffer.alloc(0),
    data: data.bytes,
    size: (dictionary?.size ?? 0) + data.size,
  };
}

async function page(
  kind: 'dictionary' | 'data',
  chunk: Chunk,
  content: Buffer,
): Promise<{ readonly bytes: Buffer; readonly size: number }> {
  const { length } = content;
  // With its size known, the compressor takes no more memory than a page needs.
  const chunkSize = Math.min(PAGE, Math.max(1024, length));
  const options = { params: PARAMS, pledgedSrcSize: length, chunkSize };
  const compressed = await compressAsync(content, options);
  const header = pageHeader(kind, chunk, length, compressed.length);
  reportExternalBytes(length + compressed.length);
  return { bytes: Buffer.concat([header, compressed]), size: header.length + length };
}
