import type { Column, RowFormat, RowOptions, Rows } from './rows.ts';

/** An Arrow IPC stream. The package is loaded at its first use: most servers never need it. */
export const arrow: RowFormat = {
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
