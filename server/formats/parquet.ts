import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { NumberOrText } from '../facts/duckdb/append.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { Batch, Cell, Column, RowFormat, RowOptions, Rows } from './rows.ts';

/** Bytes per chunk. */
const CHUNK = 256 * 1024;
/** Milliseconds. */
const DAY = 86_400_000;

/** A Parquet file: DuckDB writes it into its temporary folder, from where it is sent and removed. */
export function parquetFormat(engine: Engine): RowFormat {
  return {
    contentType: 'application/vnd.apache.parquet',
    write: (rows, options) => writeParquet(engine, rows, options),
  };
}

async function* writeParquet(engine: Engine, rows: Rows, { quality }: RowOptions): AsyncGenerator<Buffer, void> {
  const file = engine.temporaryFile('parquet');
  try {
    await writeFile(engine, rows, file, quality);
    yield* createReadStream(file, { highWaterMark: CHUNK });
  } finally {
    await rm(file, { force: true });
  }
}

async function writeFile(
  engine: Engine,
  { columns, batches }: Rows,
  target: string,
  quality: string | undefined,
): Promise<void> {
  using session = await engine.session();
  const stored = columns.map(({ name, type }) => `"${name}" ${KINDS[type].stored}`);
  await session.run(sqlTemplate('formats/create_answer_rows', { columns: stored.join(', ') }));
  const types = [...columns.map(({ type }) => KINDS[type].stored), 'double' as const];
  await session.appendColumns('answer_rows', types, numbered(columns, batches));
  const exact = columns.map(({ name, type }) => `${KINDS[type].exact(`"${name}"`)} as "${name}"`);
  const parts = { columns: exact.join(', ') };
  if (quality === undefined) await session.run(sqlTemplate('formats/write_answer_rows', parts), { target });
  else await session.run(sqlTemplate('formats/write_answer_rows_with_quality', parts), { target, quality });
}

/** Batches for the table, with row numbers, because DuckDB does not keep an order. */
async function* numbered(columns: readonly Column[], batches: Rows['batches']) {
  let before = 0;
  for await (const { length, cells } of batches) {
    const start = before;
    before += length;
    yield { length, cells: [...storedCells(columns, cells), (row: number) => start + row] };
  }
}

function storedCells(columns: readonly Column[], cells: Batch['cells']): ((row: number) => NumberOrText)[] {
  return columns.map(({ type }, index) => {
    const { toStored } = KINDS[type];
    const cell = cells[index]!;
    return (row) => {
      const value = cell(row);
      return value === null ? null : toStored(value);
    };
  });
}

interface Kind {
  /** How cells are handed to DuckDB: numbers that are not DOUBLE would need an object each. */
  readonly stored: 'varchar' | 'double';
  readonly toStored: (cell: NonNullable<Cell>) => string | number;
  /** The exact value of a stored column. */
  readonly exact: (column: string) => string;
}

const NUMBER: Kind = { stored: 'double', toStored: Number, exact: (column) => column };
const KINDS: Readonly<Record<Column['type'], Kind>> = {
  text: { stored: 'varchar', toStored: String, exact: (column) => column },
  ids: {
    stored: 'varchar',
    toStored: (cell) => (cell as readonly string[]).join(' '),
    exact: (column) => `list_filter(string_split(${column}, ' '), lambda id: id <> '')`,
  },
  day: {
    stored: 'double',
    toStored: (cell) => Date.parse(String(cell)) / DAY,
    exact: (column) => `date '1970-01-01' + ${column}::integer`,
  },
  instant: {
    stored: 'double',
    toStored: (cell) => Date.parse(String(cell)),
    exact: (column) => `epoch_ms(${column}::bigint)::timestamptz`,
  },
  count: { ...NUMBER, exact: (column) => `${column}::bigint` },
  ratio: NUMBER,
  share: NUMBER,
  boolean: { ...NUMBER, exact: (column) => `${column}::boolean` },
};
