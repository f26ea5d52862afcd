import { type DuckDBMaterializedResult, DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { reportExternalBytes } from '../../runtime/external-memory.ts';

/** Takes some rows of a result by columns. The arrays are valid only during the call. */
export type TakeNumbers = (columns: readonly Float64Array[], rows: number) => void;

/** All rows of a result. Integers too large to be exact are an error; they are not rounded. */
export async function readRows<Row>(result: DuckDBMaterializedResult): Promise<Row[]> {
  const names = result.columnNames();
  const readers = names.map((_, index) => readerOf(result.columnTypeId(index)));
  const rows: Row[] = [];
  for (let at = 0; at < result.chunkCount; at++) {
    // The event loop runs between two chunks.
    if (at > 0) await new Promise(setImmediate);
    const chunk = result.getChunk(at);
    const columns = readers.map((read, index) => read(chunk.getColumnValues(index)));
    for (let place = 0; place < chunk.rowCount; place++) {
      const row: Record<string, unknown> = {};
      for (let index = 0; index < names.length; index++) row[names[index]!] = columns[index]![place]!;
      rows.push(row as Row);
    }
  }
  return rows;
}

/** Chunks that are taken in one turn of the event loop: 16,000 rows. */
const CHUNKS_PER_TURN = 8;

/** Passes a result to `take`, a chunk at a time. All columns must be DOUBLE and without nulls. */
export async function readNumbers(result: DuckDBMaterializedResult, take: TakeNumbers): Promise<void> {
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

type ReadValues = (values: readonly DuckDBValue[]) => readonly unknown[];

/** How to read the values of a column. The type is checked once per column, not per value. */
function readerOf(type: DuckDBTypeId): ReadValues {
  return NUMBERS.has(type) ? (values) => values.map(toExactNumber) : (values) => values;
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
