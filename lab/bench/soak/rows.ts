import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataType, tableFromIPC, type Vector } from 'apache-arrow';
import type { Engine } from '../../../server/facts/duckdb/engine.ts';
import type { PlainRow } from './body.ts';
import type { Got } from './http.ts';

export const FORMATS = ['csv', 'ndjson', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

let files = 0;

/** The rows of an answer in any format. Days are texts, whole numbers are numbers or texts. */
export async function rowsOf(engine: Engine, folder: string, format: Format, { bytes }: Got): Promise<PlainRow[]> {
  if (format === 'csv') return csvRows(bytes.toString());
  if (format === 'ndjson') {
    return bytes
      .toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as PlainRow);
  }
  return format === 'arrow' ? arrowRows(bytes) : parquetRows(engine, folder, bytes);
}

/** No field of the soak's data needs quotes. */
function csvRows(text: string): PlainRow[] {
  const [head = '', ...lines] = text.split('\r\n').slice(0, -1);
  const names = head.replace('\uFEFF', '').split(',');
  return lines.map((line) => {
    const fields = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, fields[index] ?? '']));
  });
}

function arrowRows(bytes: Buffer): PlainRow[] {
  const table = tableFromIPC(bytes);
  const fields: readonly { readonly name: string; readonly type: DataType }[] = table.schema.fields;
  const columns = fields.map(({ name, type }) => ({ name, type, column: table.getChild(name) as Vector }));
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(
      columns.map(({ name, type, column }) => {
        const value = column.get(row) as unknown;
        if (typeof value === 'bigint') return [name, Number(value)];
        return [name, DataType.isDate(type) ? new Date(Number(value)).toISOString().slice(0, 10) : value];
      }),
    ),
  );
}

async function parquetRows(engine: Engine, folder: string, bytes: Buffer): Promise<PlainRow[]> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${++files}.parquet`);
  writeFileSync(file, bytes);
  try {
    using session = await engine.session();
    // As texts, which say the same and need no reading of types.
    return await session.rows<PlainRow>('select columns(*)::varchar from read_parquet($file)', { file });
  } finally {
    rmSync(file);
  }
}
