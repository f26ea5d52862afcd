import { promisify } from 'node:util';
import { constants, zstdCompress } from 'node:zlib';
import { reportExternalBytes } from '../../runtime/external-memory.ts';
import { inTurns } from '../../runtime/turns.ts';
import type { Batch, Column } from '../rows.ts';
import type { Chunk, ColumnChunks } from './chunk.ts';
import { columnChunks } from './columns.ts';
import { fileIndex, type PlacedChunk, pageHeader, type RowGroup } from './metadata.ts';

/** Max rows of a group, and so in memory at a time. */
const ROWS = 65_536;
/** The first group is small, so that a response starts early. */
const FIRST_ROWS = 16_384;
/** Max characters of texts of a group. */
const CHARACTERS = 4_000_000;
/** Rows read per step: some 50 µs. */
const ROWS_PER_STEP = 256;

const MAGIC = Buffer.from('PAR1');
const compressAsync = promisify(zstdCompress);
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Writes batches of rows as the bytes of a Parquet file, a group of rows at a time. */
export class ParquetStream {
  readonly #columns: readonly Column[];
  readonly #chunks: readonly ColumnChunks[];
  readonly #groups: RowGroup[] = [];
  /** Rows of the current group. */
  #rows = 0;
  /** Bytes written. */
  #position = 0;
  /** The group that is compressed while the next one is filled. */
  #compressing: { readonly rows: number; readonly pages: Promise<readonly Written[]> } | undefined;

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
    yield* this.#compressed();
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

  /** Ends the group. Yields the bytes of the previous one; those of the first one at once, to start the response. */
  async *#group(): AsyncGenerator<Buffer, void> {
    const rows = this.#rows;
    this.#rows = 0;
    const pages = Promise.all((await inTurns(takeEach(this.#chunks))).map(compress));
    // A rejection is thrown where it is awaited; if the client has left, it never is.
    pages.catch(() => {});
    yield* this.#compressed();
    this.#compressing = { rows, pages };
    if (this.#groups.length === 0) yield* this.#compressed();
  }

  async *#compressed(): AsyncGenerator<Buffer, void> {
    if (this.#compressing === undefined) return;
    const { rows, pages } = this.#compressing;
    this.#compressing = undefined;
    const placed: PlacedChunk[] = [];
    for (const { chunk, dictionary, data, size } of await pages) {
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
    this.#groups.push({ rows, chunks: placed });
  }
}

function* takeEach(columns: readonly ColumnChunks[]): Generator<void, Chunk[]> {
  const taken: Chunk[] = [];
  for (const column of columns) {
    taken.push(column.take());
    yield;
  }
  return taken;
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
  const options = { params: PARAMS, pledgedSrcSize: length, chunkSize: Math.max(1024, length) };
  const compressed = await compressAsync(content, options);
  const header = pageHeader(kind, chunk, length, compressed.length);
  reportExternalBytes(length + compressed.length);
  return { bytes: Buffer.concat([header, compressed]), size: header.length + length };
}
