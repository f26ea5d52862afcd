import type { RowFormatName } from '../domain/formats.ts';
import { ParquetStream } from './parquet/stream.ts';
import type { Column, RowFormat, RowOptions, Rows } from './rows.ts';
import { csv, ndjson } from './text.ts';

/** An Arrow IPC stream. The package is loaded at its first use: most servers never need it. */
const arrow: RowFormat = {
  description: 'With exact types, and `sum_position`.',
  isText: false,
  write: writeArrow,
};

async function* writeArrow({ columns, batches }: Rows, { metadata }: RowOptions): AsyncGenerator<Buffer, void> {
  const { ArrowStream } = await import('./arrow-stream.ts');
  const stream = new ArrowStream(columns as readonly Column[], metadata ?? {});
  for await (const batch of batches) {
    for (const part of stream.write(batch)) yield part;
  }
  yield stream.end();
}

/** A Parquet file, sent a group of rows at a time. */
const parquet: RowFormat = {
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

export const ROW_FORMATS: Readonly<Record<RowFormatName, RowFormat>> = { csv, ndjson, arrow, parquet };
