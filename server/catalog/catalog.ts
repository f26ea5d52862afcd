import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type CacheKey, cacheKey } from '../domain/cache-key.ts';
import { unavailable } from '../domain/errors.ts';
import { sqlNames, sqlTemplate, sqlText } from '../runtime/sql.ts';
import { CatalogFile } from './catalog-file.ts';
import { isBusy, nameCatalogFailure } from './failures.ts';

export type Values = Readonly<Record<string, SQLInputValue>>;

/** Stands for a state of the catalog, by its identity. */
export interface CatalogVersion {
  /** SQLite's data version: commits of other connections. */
  readonly others: number;
  /** Writes of this connection. */
  readonly own: number;
}

/** How long a process waits for another one's write, in milliseconds. */
const BUSY_TIMEOUT = 30_000;

/** Long snapshots of one process at once; each has a connection of its own. */
const MAX_LONG_SNAPSHOTS = 4;

const MIGRATIONS = sqlNames('catalog/migrations');
/** What this version makes of a catalog. */
const SHAPE = MIGRATIONS.length;

/**
 * The catalog: who exists and which fact files are current. One connection of one process; several processes use the
 * same file at once (WAL: readers never wait). Statements are the files of `sql/catalog/`, prepared once.
 */
export class Catalog {
  readonly #file: CatalogFile;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<CacheKey, StatementSync>();
  /** Writes of this connection, which SQLite does not count in its data version. */
  #writes = 0;
  #version: CatalogVersion = { others: -1, own: -1 };
  /** SQLite's data version, as it was in this turn of the event loop. */
  #others: number | undefined;
  /** The data version for which the catalog's shape was looked at. */
  #looked: number | undefined;
  readonly #longSnapshots = pLimit(MAX_LONG_SNAPSHOTS);
  /** Connections of long snapshots that have ended. */
  readonly #idle: Catalog[] = [];

  /**
   * Opens the catalog of a data folder and brings its schema up to date. Where there is none it is made, and the folder
   * with it, unless `create` is false: then that is an error. Throws `CatalogFailure`, also where there is none although
   * there are facts.
   */
  constructor(dataFolder: string, { create = true }: { create?: boolean } = {}) {
    this.#file = new CatalogFile(dataFolder);
    let db: DatabaseSync | undefined;
    try {
      this.#file.prepare({ create });
      db = new DatabaseSync(this.#file.path, { timeout: BUSY_TIMEOUT });
      this.#db = db;
      if (this.#shape() === 0) this.#file.refuseWhereFactsAre('empty');
      this.#db.exec('pragma journal_mode = wal');
      // FULL: a load that was reported as done survives a power cut.
      this.#db.exec('pragma synchronous = full');
      this.#db.exec('pragma foreign_keys = on');
      this.#migrate();
    } catch (error) {
      db?.close();
      throw nameCatalogFailure(error, this.#file.path);
    }
  }

  /** Throws `CatalogFailure` when the file that was opened has been removed, replaced or emptied since. */
  check(): void {
    this.#file.check();
  }

  /** First row of a query, or undefined. */
  get<Row>(name: string, values: Values = {}): Row | undefined {
    return this.#named(() => this.#statement(name).get(values) as Row | undefined);
  }

  all<Row>(name: string, values: Values = {}): Row[] {
    return this.#named(() => this.#statement(name).all(values) as Row[]);
  }

  /** Rows of a query, one by one. Nothing else must run on this connection before the last one. */
  each<Row>(name: string, values: Values = {}): Iterable<Row> {
    return this.#statement(name).iterate(values) as Iterable<Row>;
  }

  /** Runs a statement that changes rows; returns how many. */
  run(name: string, values: Values = {}): number {
    this.#beforeWrite();
    return this.#named(() => Number(this.#statement(name).run(values).changes));
  }

  /** Rows of a template, one by one, for results that need not fit in memory. `parts`: identifiers of our own. */
  eachOfTemplate<Row>(name: string, parts: Readonly<Record<string, string>>, values: Values = {}): Iterable<Row> {
    return this.#template(name, parts).iterate(values) as Iterable<Row>;
  }

  /** Runs a template that changes rows; returns how many. `parts`: identifiers of our own. */
  runTemplate(name: string, parts: Readonly<Record<string, string>>, values: Values): number {
    this.#beforeWrite();
    return this.#named(() => Number(this.#template(name, parts).run(values).changes));
  }

  /**
   * A value that is another one (by `!==`) after every commit to the catalog. Those of this process count at once; other processes are
   * asked about (it costs some microseconds) once in each turn of the event loop, for all requests handled in it.
   * Throws `unavailable` once a newer version has changed the catalog's shape: what this one reads may mean other things;
   * and once the catalog's file is gone.
   */
  version(): CatalogVersion {
    if (this.#others === undefined) {
      try {
        this.check();
      } catch (error) {
        throw unavailable('The service has lost its catalog.', error);
      }
      const row = this.#prepared(cacheKey('version'), () => 'pragma data_version').get() as { data_version: number };
      if (row.data_version !== this.#looked) {
        if (this.#shape() !== SHAPE) throw unavailable('The data was taken over by a newer version of the service.');
        this.#looked = row.data_version;
      }
      this.#others = row.data_version;
      setImmediate(() => {
        this.#others = undefined;
      });
    }
    if (this.#version.others !== this.#others || this.#version.own !== this.#writes) {
      this.#version = { others: this.#others, own: this.#writes };
    }
    return this.#version;
  }

  /** What `reads` sees is one state, whatever other processes commit meanwhile. */
  snapshot<T>(reads: () => T): T {
    return this.#transaction('begin', reads);
  }

  /** All of `writes` or nothing of it. */
  transaction<T>(writes: () => T): T {
    return this.#transaction('begin immediate', writes);
  }

  /**
   * As `snapshot`, for reads that wait for something between. They have a connection of their own, `own`, so that
   * nothing else of this process comes between them. Only so many run at once; others wait.
   */
  longSnapshot<T>(reads: (own: Catalog) => Promise<T>): Promise<T> {
    return this.#longSnapshots(async () => {
      const own = this.#idle.pop() ?? new Catalog(this.#file.dataFolder, { create: false });
      try {
        return await own.#whole('begin', reads);
      } finally {
        if (this.#db.isOpen) this.#idle.push(own);
        else own.close();
      }
    });
  }

  /**
   * As `transaction`, for writes that wait for something between. They have a connection of their own, `own`: nobody
   * who reads this one sees any of them before the commit.
   */
  async longTransaction<T>(writes: (own: Catalog) => Promise<T>): Promise<T> {
    this.check();
    const own = new Catalog(this.#file.dataFolder, { create: false });
    try {
      return await own.#whole('begin immediate', writes);
    } finally {
      own.close();
      // Asked again in this turn already.
      this.#others = undefined;
    }
  }

  /**
   * As `transaction`, for the server: while another process writes it tries again later instead of standing still.
   * Resolves when the writes are in.
   */
  transactionWithRetry<T>(writes: () => T): Promise<T> {
    return this.#whenFree(() => this.transaction(writes));
  }

  /** Where the file is not the one that was opened, nothing is closed: SQLite would write to it, or remove its log. */
  close(): void {
    for (const own of this.#idle.splice(0)) own.close();
    this.#statements.clear();
    if (!this.#db.isOpen) return;
    try {
      this.check();
    } catch {
      return;
    }
    this.#db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Names the catalog in failures of SQLite. */
  #named<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw nameCatalogFailure(error, this.#file.path);
    }
  }

  #beforeWrite(): void {
    // A transaction has looked when it began.
    if (!this.#db.isTransaction) this.check();
    this.#writes++;
  }

  async #whenFree<T>(attempt: () => T): Promise<T> {
    for (const deadline = Date.now() + BUSY_TIMEOUT; ; ) {
      this.#db.exec('pragma busy_timeout = 0');
      try {
        return attempt();
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
      } finally {
        this.#db.exec(`pragma busy_timeout = ${BUSY_TIMEOUT}`);
      }
      await sleep(20 + Math.random() * 80);
    }
  }

  async #whole<T>(begin: string, work: (own: Catalog) => Promise<T>): Promise<T> {
    await this.#whenFree(() => this.#db.exec(begin));
    try {
      const result = await work(this);
      this.#db.exec('commit');
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback');
      throw nameCatalogFailure(error, this.#file.path);
    }
  }

  #statement(name: string): StatementSync {
    return this.#prepared(cacheKey('statement', name), () => sqlText(`catalog/${name}`));
  }

  #template(name: string, parts: Readonly<Record<string, string>>): StatementSync {
    return this.#prepared(cacheKey('template', name, parts), () => sqlTemplate(`catalog/${name}`, parts));
  }

  #prepared(key: CacheKey, text: () => string): StatementSync {
    let statement = this.#statements.get(key);
    if (statement === undefined) {
      statement = this.#db.prepare(text());
      this.#statements.set(key, statement);
    }
    return statement;
  }

  #transaction<T>(begin: string, work: () => T): T {
    if (begin !== 'begin') this.check();
    try {
      this.#db.exec(begin);
      const result = work();
      this.#db.exec('commit');
      if (begin !== 'begin') this.#writes++;
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('rollback');
      throw nameCatalogFailure(error, this.#file.path);
    }
  }

  #migrate(): void {
    if (this.#shape() > SHAPE) {
      throw new Error(
        `The catalog was made by a newer version of Ordinate (its shape is ${this.#shape()}, this version knows ${SHAPE}). Install that version again.`,
      );
    }
    if (this.#shape() === SHAPE) return;
    // Read again inside: another process may have been faster.
    this.transaction(() => {
      for (const [index, name] of MIGRATIONS.entries()) {
        if (index < this.#shape()) continue;
        this.#db.exec(sqlText(name));
        this.#db.exec(`pragma user_version = ${index + 1}`);
      }
    });
  }

  /** How many migrations the catalog has been through. */
  #shape(): number {
    return Number(this.#db.prepare('pragma user_version').get()?.['user_version']);
  }
}
