import type { RowFormat } from './rows.ts';
import { textRows } from './text-rows.ts';

/** One JSON object per line. */
export const ndjson: RowFormat = {
  description: 'A JSON object per row.',
  isText: true,
  write: ({ columns, batches }) =>
    textRows({
      start: '',
      columns,
      batches,
      field: () => JSON.stringify,
      open: (index, { name }) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
      close: '}\n',
    }),
};
