import { mkdirSync } from 'node:fs';
import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBMaterializedResult,
  type DuckDBPreparedStatement,
} from '@duckdb/node-api';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import { sqlTemplate, sqlText } from '../../runtime/sql.ts';
import type { TakeColumns } from '../facts.ts';
import type { FactsValues, Fills } from '../reader.ts';
import { appendRow, type Batch, bind } from './append.ts';
import { readNumbers, readRows } from './columns.ts';

export type Parameters = FactsValues;

export interface EngineOptions {
  /** As DuckDB writes it, such as `1GB`. */
  readonly memoryLimit: string;
  readonly threads: number;
  /** Where DuckDB spills data that does not fit in memory. */
  readonly temporaryFolder: string;
  /** Recreates that folder if it was removed. Takes some microseconds. */
  readonly makeFolder?: () => void;
  /** The only folders that queries can read and write. */
  readonly folders: readonly string[];
}

/** A query was stopped because its client disconnected or its time limit was reached. */
class QueryCancelled extends Error {}

/** Max idle prepared statements per text. */
const MAX_IDLE = 4;
/** Milliseconds. */
const INTERRUPT_EVERY = 10;
/** Max texts with idle prepared statements. */
const MAX_TEXTS = 200;

/**
 * Embedded DuckDB over Parquet files, locked down to its folders. Every query has its own connection: a shared one would
 * queue requests, and cancelling one client's query would stop another's. Prepared statements are pooled with their
 * connections, because each driver call waits for another thread.
 */
export class Engine {
  readonly #database: DuckDBInstance;
  readonly #makeFolder: () => void;
  /** By name and fills. Questions of users have texts without end: those that were not asked for long are closed. */
  readonly #idle = new LRUCache<CacheKey, Statement[]>({
    max: MAX_TEXTS,
    dispose: (statements) => {
      for (const statement of statements.splice(0)) statement.close();
    },
  });

  readonly #macros = new Set<string>();
  readonly #defining = pLimit(1);
  readonly #setting = pLimit(1);
  /** The most that `useThreads` sets. */
  readonly threads: number;
  #used: number;
  /** Closing the database while it connects would end the process. */
  readonly #running = new Running();
  readonly #statements = new Set<Statement>();
  #isClosed = false;

  private constructor(database: DuckDBInstance, threads: number, makeFolder: () => void) {
    this.#database = database;
    this.threads = threads;
    this.#used = threads;
    this.#makeFolder = makeFolder;
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
    // The order matters: a setting can forbid changes that come after it.
    await session.run('set temp_directory = $folder', { folder: options.temporaryFolder });
    await session.run("set global TimeZone = 'UTC'");
    // Both caches keep data of every file ever read, outside of the memory limit; the system's page cache does better.
    await session.run('set global parquet_metadata_cache = false');
    await session.run('set global enable_external_file_cache = false');
    await session.run('set allowed_directories = $folders', {
      folders: [...options.folders, options.temporaryFolder].map((folder) => `${folder}/`),
    });
    await session.run('set enable_external_access = false');
    await session.run("set allowed_configs = ['threads']");
    await session.run('set lock_configuration = true');
    session.close();
    return new Engine(database, options.threads, options.makeFolder ?? (() => {}));
  }

  /** All rows of `sql/NAME.sql` (with few different `fills`). Throws `QueryCancelled` when `signal` is aborted first. */
  async query<Row>(name: string, parameters: Parameters, signal?: AbortSignal, fills?: Fills): Promise<Row[]> {
    return readRows<Row>(await this.#result(name, parameters, signal, fills));
  }

  /** Like `query`, for statements whose columns are all DOUBLE and without nulls: passes columns to `take`. */
  async numbers(name: string, of: Parameters, take: TakeColumns, signal?: AbortSignal, fills?: Fills): Promise<void> {
    await readNumbers(await this.#result(name, of, signal, fills), take);
  }

  /** A connection for several statements in a row, with its own temporary tables. Close it. */
  async session(): Promise<Session> {
    this.#haveFolder();
    return new Session(await this.#connect());
  }

  /** Creates macros, by their statements, for all sessions: each takes time to create. */
  define(macros: readonly string[]): Promise<void> {
    return this.#defining(async () => {
      const missing = macros.filter((text) => !this.#macros.has(text));
      if (missing.length === 0) return;
      using session = await this.session();
      await session.runAll(missing);
      for (const text of missing) this.#macros.add(text);
    });
  }

  /**
   * How many threads work from now on, for all sessions, from 1 to `threads`; the last call counts. What runs a statement is
   * one of them; it waits busily for the others, and so takes a processor from a statement beside it.
   */
  useThreads(wanted: number): Promise<void> {
    const threads = Math.max(1, Math.min(wanted, this.threads));
    return this.#setting(async () => {
      if (threads === this.#used) return;
      using session = await this.session();
      await session.run(`set global threads = ${threads}`);
      this.#used = threads;
    });
  }

  /** The bytes in memory and on disk that DuckDB uses now, for metrics. */
  async memory(): Promise<{ readonly memory: number; readonly spilled: number }> {
    const [found] = await this.query<{ memory: number; spilled: number }>('facts/memory', {});
    return found!;
  }

  /** Stops the queries that run and waits for them; sessions end by themselves. Later ones are refused. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const stopping = setInterval(() => {
      for (const statement of this.#statements) statement.interrupt();
    }, INTERRUPT_EVERY);
    await this.#running.ended();
    clearInterval(stopping);
    this.#idle.clear();
    this.#database.closeSync();
  }

  async #connect(): Promise<DuckDBConnection> {
    if (this.#isClosed) throw new Error('The engine is closed.');
    return this.#running.add(this.#database.connect());
  }

  #haveFolder(): void {
    try {
      this.#makeFolder();
    } catch {
      // Only queries that spill need the folder, and they fail with the reason.
    }
  }

  /** Keeps a statement for the next query of its text. */
  #keep(key: CacheKey, statement: Statement): void {
    const idle = this.#idle.get(key);
    if (idle === undefined) this.#idle.set(key, [statement]);
    else if (idle.length < MAX_IDLE) idle.push(statement);
    else statement.close();
  }

  #result(
    name: string,
    parameters: Parameters,
    signal?: AbortSignal,
    fills: Fills = {},
  ): Promise<DuckDBMaterializedResult> {
    return this.#running.add(this.#run(name, parameters, signal, fills));
  }

  async #run(name: string, parameters: Parameters, signal: AbortSignal | undefined, fills: Fills) {
    this.#haveFolder();
    const key = cacheKey(name, fills);
    const statement =
      this.#idle.get(key)?.pop() ?? (await Statement.prepare(await this.#connect(), sqlTemplate(name, fills)));
    this.#statements.add(statement);
    try {
      const result = await statement.run(parameters, signal);
      // An interrupted statement is not reused: the interrupt could stop the next query.
      if (signal?.aborted === true) statement.close();
      else this.#keep(key, statement);
      return result;
    } catch (cause) {
      statement.close();
      if (signal?.aborted) throw new QueryCancelled('The query was stopped.', { cause });
      throw cause;
    } finally {
      this.#statements.delete(statement);
    }
  }
}

/** What has begun and not ended. */
class Running {
  readonly #all = new Set<Promise<unknown>>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  add<T>(work: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = work.catch(() => {}).then(() => this.#all.delete(ended));
    this.#all.add(ended);
    return work;
  }

  /** Also waits for what is added meanwhile. */
  async ended(): Promise<void> {
    while (!this.isEmpty) await Promise.all(this.#all);
  }
}

/** A prepared statement with its own connection, for one query at a time. */
class Statement {
  readonly #connection: DuckDBConnection;
  readonly #prepared: DuckDBPreparedStatement;

  private constructor(connection: DuckDBConnection, prepared: DuckDBPreparedStatement) {
    this.#connection = connection;
    this.#prepared = prepared;
  }

  static async prepare(connection: DuckDBConnection, text: string): Promise<Statement> {
    try {
      return new Statement(connection, await connection.prepare(text));
    } catch (error) {
      connection.closeSync();
      throw error;
    }
  }

  async run(parameters: Parameters, signal?: AbortSignal): Promise<DuckDBMaterializedResult> {
    signal?.throwIfAborted();
    const { values, types } = bind(parameters);
    this.#prepared.bind(values, types);
    const stopListening = signal && interruptWhenAborted(this.#connection, signal);
    try {
      // run(), never stream(): a streamed query that fails in the middle ends like one that finished.
      return await this.#prepared.run();
    } finally {
      stopListening?.();
    }
  }

  interrupt(): void {
    this.#connection.interrupt();
  }

  close(): void {
    // This also closes the prepared statement.
    this.#connection.closeSync();
  }
}

export class Session {
  readonly #connection: DuckDBConnection;
  /** Statements of a connection that is closed meanwhile never end. */
  readonly #running = new Running();

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Runs one statement; returns how many rows it wrote, if DuckDB reports it. */
  async run(text: string, parameters: Parameters = {}): Promise<number> {
    return (await this.#result(text, parameters)).rowsChanged;
  }

  /** Runs statements without parameters in one transaction and one driver call. */
  async runAll(texts: readonly string[]): Promise<void> {
    await this.#running.add(this.#connection.run(['begin', ...texts, 'commit'].join(';\n')));
  }

  /** Runs `sql/NAME.sql`; returns how many rows it wrote. */
  runFile(name: string, parameters: Parameters, fills: Fills = {}): Promise<number> {
    return this.run(sqlTemplate(name, fills), parameters);
  }

  /** All rows of one statement. */
  async rows<Row>(text: string, parameters: Parameters = {}): Promise<Row[]> {
    return readRows<Row>(await this.#result(text, parameters));
  }

  /** All rows of `sql/NAME.sql`. */
  rowsOfFile<Row>(name: string, parameters: Parameters): Promise<Row[]> {
    return this.rows<Row>(sqlText(name), parameters);
  }

  /** Appends rows of texts, booleans and whole numbers (to bigint columns) to a table of this connection; returns how many. */
  async append(table: string, batches: Iterable<Batch> | AsyncIterable<Batch>): Promise<number> {
    const appender = await this.#connection.createAppender(table);
    let appended = 0;
    for await (const rows of batches) {
      for (const row of rows) {
        appendRow(appender, row);
        appended++;
      }
    }
    appender.closeSync();
    return appended;
  }

  /** Stops statements that run, and closes the connection when they have ended. */
  close(): void {
    if (this.#running.isEmpty) {
      this.#connection.closeSync();
      return;
    }
    const stopListening = interruptWhenAborted(this.#connection, AbortSignal.abort());
    void this.#running.ended().then(() => {
      stopListening();
      this.#connection.closeSync();
    });
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #result(text: string, parameters: Parameters): Promise<DuckDBMaterializedResult> {
    // Preparing a statement plans it a second time.
    if (Object.keys(parameters).length === 0) return this.#running.add(this.#connection.run(text));
    const { values, types } = bind(parameters);
    return this.#running.add(this.#connection.run(text, values, types));
  }
}

/** Interrupts repeatedly until the query ends: DuckDB ignores an interrupt that comes before the query has started. */
function interruptWhenAborted(connection: DuckDBConnection, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    timer = setInterval(() => connection.interrupt(), INTERRUPT_EVERY);
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt, { once: true });
  return () => {
    signal.removeEventListener('abort', interrupt);
    clearInterval(timer);
  };
}
