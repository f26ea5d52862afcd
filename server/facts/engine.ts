import { mkdirSync } from 'node:fs';
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBMaterializedResult,
  type DuckDBType,
  type DuckDBValue,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import { sqlText } from '../sql.ts';
import { freeResults } from './free-results.ts';

type Parameter = string | number | boolean | null | readonly string[];
export type Parameters = Readonly<Record<string, Parameter>>;

export interface EngineOptions {
  /** As DuckDB writes it, such as `1GB`. */
  readonly memoryLimit: string;
  readonly threads: number;
  /** Where DuckDB puts what does not fit in memory. */
  readonly temporaryFolder: string;
  /** The only folders that queries can read and write. */
  readonly folders: readonly string[];
}

/** A query was stopped because the one who asked went away or ran out of time. */
class QueryCancelled extends Error {}

/**
 * Embedded DuckDB over Parquet files, locked down to its folders. Every query has a connection of its own: opening one
 * costs microseconds, while a shared one would queue requests and let one client's cancel stop another's query.
 */
export class Engine {
  readonly #database: DuckDBInstance;

  private constructor(database: DuckDBInstance) {
    this.#database = database;
  }

  static async open(options: EngineOptions): Promise<Engine> {
    mkdirSync(options.temporaryFolder, { recursive: true });
    const database = await DuckDBInstance.create(':memory:', {
      memory_limit: options.memoryLimit,
      threads: String(options.threads),
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const session = new Session(await database.connect());
    // The order matters: each line may forbid what a later one needs.
    await session.run('set temp_directory = $folder', { folder: options.temporaryFolder });
    await session.run("set global TimeZone = 'UTC'");
    // Both keep something of every file ever read, beyond the memory limit; the page cache of the system does it better.
    await session.run('set global parquet_metadata_cache = false');
    await session.run('set global enable_external_file_cache = false');
    await session.run('set allowed_directories = $folders', {
      folders: [...options.folders, options.temporaryFolder].map((folder) => `${folder}/`),
    });
    await session.run('set enable_external_access = false');
    await session.run('set lock_configuration = true');
    session.close();
    return new Engine(database);
  }

  /** All rows of `sql/NAME.sql`. Throws `QueryCancelled` when `signal` is aborted first. */
  async query<Row>(name: string, parameters: Parameters, signal?: AbortSignal): Promise<Row[]> {
    using session = await this.session(signal);
    return await session.rows<Row>(sqlText(name), parameters);
  }

  /** A connection for several statements in a row, with its own temporary tables. Close it. */
  async session(signal?: AbortSignal): Promise<Session> {
    signal?.throwIfAborted();
    return new Session(await this.#database.connect(), signal);
  }

  close(): void {
    this.#database.closeSync();
  }
}

export class Session {
  readonly #connection: DuckDBConnection;
  readonly #signal: AbortSignal | undefined;
  readonly #stopListening: () => void;

  constructor(connection: DuckDBConnection, signal?: AbortSignal) {
    this.#connection = connection;
    this.#signal = signal;
    this.#stopListening = signal ? interruptWhenAborted(connection, signal) : () => {};
  }

  /** Runs one statement; returns how many rows it wrote, where it tells. */
  async run(text: string, parameters: Parameters = {}): Promise<number> {
    return (await this.#result(text, parameters)).rowsChanged;
  }

  /** Runs `sql/NAME.sql`; returns how many rows it wrote. */
  runFile(name: string, parameters: Parameters): Promise<number> {
    return this.run(sqlText(name), parameters);
  }

  /** All rows of one statement. Whole numbers too large to be exact are an error, not a rounding. */
  async rows<Row>(text: string, parameters: Parameters = {}): Promise<Row[]> {
    const result = await this.#result(text, parameters);
    const names = result.columnNames();
    const rows: Row[] = [];
    for (let at = 0; at < result.chunkCount; at++) {
      // Others get their turn between two chunks.
      if (at > 0) await new Promise(setImmediate);
      const chunk = result.getChunk(at);
      const columns = names.map((_, index) => chunk.getColumnValues(index));
      for (let place = 0; place < chunk.rowCount; place++) {
        const row: Record<string, unknown> = {};
        for (let index = 0; index < names.length; index++) row[names[index]!] = plain(columns[index]![place]!);
        rows.push(row as Row);
      }
    }
    return rows;
  }

  /**
   * Numbers of one statement, whose columns are all DOUBLE and without nulls, a chunk at a time. The arrays are valid
   * only during the call.
   */
  async numbers(
    text: string,
    parameters: Parameters,
    take: (columns: readonly Float64Array[], rows: number) => void,
  ): Promise<void> {
    const result = await this.#result(text, parameters);
    for (let at = 0; at < result.chunkCount; at++) {
      const { rowCount, columnCount, chunk } = result.getChunk(at);
      const columns = Array.from({ length: columnCount }, (_, index) => {
        const vector = bindings.data_chunk_get_vector(chunk, index);
        const { buffer, byteOffset } = bindings.vector_get_data(vector, rowCount * 8);
        return new Float64Array(buffer, byteOffset, rowCount);
      });
      take(columns, rowCount);
    }
    freeResults(result.rowCount);
  }

  /** Appends rows of texts, booleans and whole numbers (to bigint columns) to a table of this connection. */
  async append(table: string, rows: Iterable<readonly (string | boolean | number | null)[]>): Promise<void> {
    const appender = await this.#connection.createAppender(table);
    for (const row of rows) {
      for (const value of row) {
        if (value === null) appender.appendNull();
        else if (typeof value === 'boolean') appender.appendBoolean(value);
        else if (typeof value === 'number') appender.appendBigInt(BigInt(value));
        else appender.appendVarchar(value);
      }
      appender.endRow();
    }
    appender.closeSync();
  }

  close(): void {
    this.#stopListening();
    this.#connection.closeSync();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #result(text: string, parameters: Parameters): Promise<DuckDBMaterializedResult> {
    try {
      const { values, types } = bind(parameters);
      // prepare() and not the connection's run(): each step waits for another thread, and this has one less.
      const prepared = await this.#connection.prepare(text);
      try {
        prepared.bind(values, types);
        // run(), never stream(): a streamed query that fails in the middle ends like one that finished.
        return await prepared.run();
      } finally {
        prepared.destroySync();
      }
    } catch (cause) {
      if (this.#signal?.aborted) throw new QueryCancelled('The query was stopped.', { cause });
      throw cause;
    }
  }
}

/** Lists carry their type: the driver cannot guess that of an empty one. */
function bind(parameters: Parameters): { values: Record<string, DuckDBValue>; types: Record<string, DuckDBType> } {
  const values: Record<string, DuckDBValue> = {};
  const types: Record<string, DuckDBType> = {};
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value === 'object' && value !== null) {
      values[name] = listValue(value);
      types[name] = LIST(VARCHAR);
    } else {
      values[name] = value;
    }
  }
  return { values, types };
}

function plain(value: DuckDBValue): unknown {
  const plainValue = typeof value === 'bigint' ? Number(value) : value;
  if (typeof plainValue === 'number' && Math.abs(plainValue) > Number.MAX_SAFE_INTEGER) {
    throw new RangeError(`${plainValue} is too large to be exact`);
  }
  return plainValue;
}

/** DuckDB drops an interrupt that comes before the query is under way, so it is sent until the query ends. */
function interruptWhenAborted(connection: DuckDBConnection, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    timer = setInterval(() => connection.interrupt(), 10);
  };
  signal.addEventListener('abort', interrupt, { once: true });
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearInterval(timer);
  };
}
