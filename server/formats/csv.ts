import type { Batch, Column, RowFormat, Rows } from './rows.ts';

/** Characters per chunk. */
const CHUNK = 64 * 1024;

/** Spreadsheets run texts that begin like this as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** CSV (RFC 4180) with a header line. Nulls are empty; texts that look like formulas get a leading `'`. */
export const csv: RowFormat = { contentType: 'text/csv; charset=utf-8', write: writeCsv };

async function* writeCsv({ columns, batches }: Rows): AsyncGenerator<Buffer, void> {
  let text = `${columns.map(({ name }) => name).join(',')}\r\n`;
  for await (const batch of batches) {
    const fields = columns.map((column, index) => fieldWriter(column, batch.cells[index]!));
    for (let row = 0; row < batch.length; row++) {
      text += `${fields.map((field) => field(row)).join(',')}\r\n`;
      if (text.length < CHUNK) continue;
      yield Buffer.from(text);
      text = '';
    }
  }
  if (text !== '') yield Buffer.from(text);
}

function fieldWriter({ type }: Column, cell: Batch['cells'][number]): (row: number) => string {
  if (type !== 'text') return (row) => String(cell(row) ?? '');
  return (row) => {
    const value = String(cell(row) ?? '');
    const safe = FORMULA.test(value) ? `'${value}` : value;
    return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
}
