import { type Cell, type Column, plainColumns, type RowFormat } from './rows.ts';
import { textRows } from './text-rows.ts';

/** Spreadsheets evaluate texts that begin like this as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/**
 * CSV (RFC 4180) with a header line. Nulls are empty, ids are joined by spaces; texts that look like formulas get a
 * leading `'`.
 */
export const csv: RowFormat = {
  description: 'RFC 4180 with a header line. Texts that a spreadsheet would execute are prefixed with an apostrophe.',
  isText: true,
  write: ({ columns, batches }, { bom }) => {
    const header = plainColumns(columns).map(({ column }) => column.name);
    return textRows({
      start: `${bom ? '\ufeff' : ''}${header.join(',')}\r\n`,
      columns,
      batches,
      field: fieldWriter,
      open: (index) => (index === 0 ? '' : ','),
      close: '\r\n',
    });
  },
};

function fieldWriter({ type }: Column): (cell: Cell) => string {
  if (type === 'text') return (cell) => (cell === null ? '' : textField(String(cell)));
  if (type === 'ids') return (cell) => textField(((cell ?? []) as readonly string[]).join(' '));
  return (cell) => String(cell ?? '');
}

function textField(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
