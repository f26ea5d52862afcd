import { type DuckDBDataChunk, type DuckDBMaterializedResult, DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { reportExternalBytes } from '../../runtime/external-memory.ts';
import type { TakeColumns } from '../facts.ts';

/** All rows of a result. Integers too large to be exact are an error; they are not rounded. */
export async function readRows<Row>(result: DuckDBMaterializedResult): Promise<Row[]> {
  const names = result.columnNames();
  const readers = names.map((_, index) => readerOf(result.columnTypeId(index)));
  const rows: Row[] = [];
  for (let at = 0; at < result.chunkCount; at++) {
    // Yields to the event loop between two chunks.
    if (at > 0) await new Promise(setImmediate);
    const chunk = result.getChunk(at);
    const columns = readers.map((read, index) => read(chunk, index));
    for (let at = 0; at < chunk.rowCount; at++) {
      const row: Record<string, unknown> = {};
      for (let index = 0; index < names.length; index++) row[names[index]!] = columns[index]![at]!;
      rows.push(row as Row);
    }
  }
  return rows;
}

/** Chunks per turn of the event loop: 16,000 rows. */
const CHUNKS_PER_TURN = 8;

/** Passes a result to `take`, a chunk at a time. All columns must be DOUBLE and without nulls. */
export async function readNumbers(result: DuckDBMaterializedResult, take: TakeColumns): Promise<void> {
  const wrong = result.columnNames().filter((_, index) => result.columnTypeId(index) !== DuckDBTypeId.DOUBLE);
  if (wrong.length > 0) throw new TypeError(`these columns must be DOUBLE: ${wrong.join(', ')}`);
  const chunks = result.chunkCount;
  for (let at = 0; at < chunks; at++) {
    if (at > 0 && at % CHUNKS_PER_TURN === 0) await new Promise(setImmediate);
    const { rowCount, columnCount, chunk } = result.getChunk(at);
    const columns = Array.from({ length: columnCount }, (_, index) => {
      const vector = bindings.data_chunk_get_vector(chunk, index);
      const { buffer, byteOffset } = bindings.vector_get_data(vector, rowCount * 8);
      return new Float64Array(buffer, byteOffset, rowCount);
    });
    take(columns, rowCount);
  }
  // DuckDB's own memory, and the copy that the bindings make.
  reportExternalBytes(2 * result.rowCount * result.columnCount * Float64Array.BYTES_PER_ELEMENT);
}

type ReadValues = (chunk: DuckDBDataChunk, index: number) => readonly unknown[];

/** How to read the values of a column. The type is checked once per column, not per value. */
function readerOf(type: DuckDBTypeId): ReadValues {
  if (type === DuckDBTypeId.VARCHAR) return readTexts;
  if (NUMBERS.has(type)) return (chunk, index) => chunk.getColumnValues(index).map(toExactNumber);
  return (chunk, index) => chunk.getColumnValues(index);
}

const BOM = '\uFEFF';
/** The bytes of the byte order mark, as the lower three of a little-endian word. */
const BOM_BYTES = 0xbf_bb_ef;
/** The length of a text, its first four bytes, and the rest or a pointer to it. */
const BYTES_PER_TEXT = 16;

/** The texts of a column. The bindings remove a byte order mark at the start of each text; this restores it. */
function readTexts(chunk: DuckDBDataChunk, index: number): readonly DuckDBValue[] {
  const values = chunk.getColumnValues(index);
  const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
  const { buffer, byteOffset } = bindings.vector_get_data(vector, values.length * BYTES_PER_TEXT);
  const words = new Uint32Array(buffer, byteOffset, (values.length * BYTES_PER_TEXT) / Uint32Array.BYTES_PER_ELEMENT);
  for (let row = 0; row < values.length; row++) {
    const hasMark = words[row * 4]! >= 3 && (words[row * 4 + 1]! & 0xff_ff_ff) === BOM_BYTES;
    if (hasMark && values[row] !== null) values[row] = BOM + (values[row] as string);
  }
  return values;
}

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
]);

function toExactNumber(value: DuckDBValue): number | null {
  if (value === null) return null;
  const number = Number(value);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw new RangeError(`${number} is too large to be exact`);
  return number;
}
