import { ParquetStream } from './parquet/stream.ts';
import type { RowFormat, RowOptions, Rows } from './rows.ts';

/** A Parquet file, sent a group of rows at a time. */
export const parquet: RowFormat = {
  description: 'With exact types, and `sum_position`.',
  isText: false,
  write: writeParquet,
};

async function* writeParquet({ columns, batches }: Rows, { metadata }: RowOptions): AsyncGenerator<Buffer, void> {
  const stream = new ParquetStream(columns);
  let start: Buffer | undefined = stream.start();
  for await (const batch of batches) {
    for await (const bytes of stream.write(batch)) {
      // An error before the first bytes becomes an error response.
      if (start !== undefined) yield start;
      start = undefined;
      yield bytes;
    }
  }
  if (start !== undefined) yield start;
  yield* stream.end(metadata ?? {});
}
