import { ParquetStream } from './parquet/stream.ts';
import type { RowFormat, RowOptions, Rows } from './rows.ts';

/** A Parquet file, sent a group of rows at a time. */
export const parquet: RowFormat = {
  contentType: 'application/vnd.apache.parquet',
  write: writeParquet,
};

async function* writeParquet({ columns, batches }: Rows, { quality }: RowOptions): AsyncGenerator<Buffer, void> {
  const stream = new ParquetStream(columns);
  let start: Buffer | undefined = stream.start();
  for await (const batch of batches) {
    for await (const bytes of stream.write(batch)) {
      // Until then an error is an error answer.
      if (start !== undefined) yield start;
      start = undefined;
      yield bytes;
    }
  }
  if (start !== undefined) yield start;
  yield* stream.end(quality === undefined ? {} : { quality });
}
