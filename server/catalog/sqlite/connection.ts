import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { cacheKey } from '../../domain/cache-key.ts';
import { sqlTemplate } from '../../runtime/sql.ts';
import { inTurns } from '../../runtime/turns.ts';
import type { LocalFiles } from '../../storage/local-files.ts';
import type { Statement, Statements, Values } from '../catalog.ts';
import { catalogText } from '../entity-rows.ts';
import { CatalogFailure, isBusy, nameCatalogFailure, newerCatalog } from '../failures.ts';
import { changesSince, SCHEMA_VERSION, type SchemaStore } from '../schema.ts';
import { keepRevocation, REVOCATIONS } from './revocations.ts';

/** The disk has no room for the index of the log, which SQLite needs to read (`SQLITE_IOERR_SHMSIZE`). */
const NO_ROOM = 4874;

/** Whether a database cannot even be read because the disk is full. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === NO_ROOM;
}

/**
 * Opens a database on a full disk for reading, without a log. Nobody writes to it: a writer would have an index of the
 * log. Undefined if the log has changes.
 */
export function openFrozen(path: string): DatabaseSync | undefined {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}

/** The schema version of a database. */
export function schemaVersionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Migrates a catalog to `SCHEMA_VERSION`. @param finish see `change` */
export function migrate(db: DatabaseSync, finish: (found: number) => void): void {
  const found = schemaVersionOf(db);
  if (found > SCHEMA_VERSION) throw newerCatalog(found, SCHEMA_VERSION);
  if (found < SCHEMA_VERSION) change(db, 'sqlite', finish);
}

/**
 * Makes a catalog that nobody has open durable, to be renamed: it is in one file, without a log, which would stay behind.
 * Throws if others read it.
 */
export async function sealCatalog(files: LocalFiles, file: string): Promise<void> {
  const path = files.path(file);
  {
    using db = new DatabaseSync(path);
    db.exec('pragma wal_checkpoint(truncate)');
  }
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
    throw new CatalogFailure(`The catalog '${path}' is read by another process. Stop it, and try again.`);
  }
  await files.seal(file);
}

/**
 * Makes the changes that a database lacks, all or none.
 * @param finish is called with the version before, and undoes all if it throws
 */
export function change(
  db: DatabaseSync,
  store: Exclude<SchemaStore, 'postgres'>,
  finish: (found: number) => void = () => {},
): void {
  db.exec('begin immediate');
  try {
    // Read in the transaction, because another process may have migrated it.
    const found = schemaVersionOf(db);
    for (const { text, version } of changesSince(store, found)) {
      db.exec(text);
      db.exec(`pragma user_version = ${version}`);
    }
    finish(found);
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}

/** How long to wait for other writers, in milliseconds. */
const BUSY_TIMEOUT = 30_000;
/** Rows per batch. */
const BATCH = 500;

/** A connection to the catalog file. Each statement of `sql/catalog/` is prepared once. */
export class Connection implements Statements {
  readonly #path: string;
  readonly db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Those of `each` that nothing reads. */
  readonly #idle = new Map<string, StatementSync>();
  /** Whether it only reads, because the disk is full. */
  readonly isFrozen: boolean;
  #dataVersion: StatementSync | undefined;
  #changed: StatementSync | undefined;
  /** Of the transaction. */
  readonly #revoked: { readonly statement: string; readonly values: Values }[] = [];

  private constructor(path: string, db: DatabaseSync, isFrozen: boolean) {
    this.#path = path;
    this.db = db;
    this.isFrozen = isFrozen;
  }

  static open(path: string): Connection {
    return new Connection(path, new DatabaseSync(path, { timeout: BUSY_TIMEOUT }), false);
  }

  /** Opens it for reading on a full disk; undefined if impossible. See `openFrozen`. */
  static openFrozen(path: string): Connection | undefined {
    const db = openFrozen(path);
    return db && new Connection(path, db, true);
  }

  /** Configures the connection. Nothing is written to the file before. */
  configure(): void {
    if (this.isFrozen) return;
    this.db.exec('pragma journal_mode = wal');
    // FULL: a completed load survives a power failure.
    this.db.exec('pragma synchronous = full');
    this.db.exec('pragma foreign_keys = on');
  }

  /** Changes after a commit of any other connection, in any process. */
  get dataVersion(): number {
    this.#dataVersion ??= this.db.prepare('pragma data_version');
    return this.#dataVersion.get()!['data_version'] as number;
  }

  async get<Row>(statement: Statement, values: Values = {}): Promise<Row | undefined> {
    return this.#named(() => this.#statement(statement).get(values) as Row | undefined);
  }

  async all<Row>(statement: Statement, values: Values = {}): Promise<Row[]> {
    return this.#named(() => this.#statement(statement).all(values) as Row[]);
  }

  async *each<Row>(statement: Statement, values: Values = {}): AsyncGenerator<readonly Row[], void> {
    const key = keyOf(statement);
    const prepared = this.#named(() => this.#idle.get(key) ?? this.db.prepare(textOf(statement)));
    // The same statement may be used again before its last row.
    this.#idle.delete(key);
    const rows = this.#named(() => prepared.iterate(values)) as IterableIterator<Row>;
    try {
      for (;;) {
        const batch = await inTurns(nextOf(rows));
        if (batch.length > 0) yield batch;
        if (batch.length < BATCH) return;
      }
    } catch (error) {
      throw this.#name(error);
    } finally {
      // An unfinished statement keeps its transaction open.
      rows.return?.();
      this.#idle.set(key, prepared);
    }
  }

  async send(statement: Statement, values?: Values): Promise<void> {
    await this.run(statement, values);
  }

  async run(statement: Statement, values: Values = {}): Promise<number> {
    if (typeof statement === 'string' && REVOCATIONS.has(statement)) this.#revoked.push({ statement, values });
    return this.#named(() => Number(this.#statement(statement).run(values).changes));
  }

  async runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]> {
    try {
      return await inTurns(runFor(this.#statement(statement), rows));
    } catch (error) {
      throw this.#name(error);
    }
  }

  /** Runs `work` in one snapshot. Readers never wait. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    this.#named(() => this.db.exec('begin'));
    try {
      return await work();
    } catch (error) {
      throw this.#name(error);
    } finally {
      if (this.db.isTransaction) this.db.exec('rollback');
    }
  }

  /** Runs `work` in a transaction, which is rolled back on failure. Calls `onCommit` after the commit. */
  async write<T>(work: () => Promise<T>, onCommit: () => void): Promise<T> {
    await this.#whenFree(() => this.db.exec('begin immediate'));
    this.#revoked.length = 0;
    let forget: (() => Promise<void>) | undefined;
    try {
      const before = this.#changedRows();
      const result = await work();
      if (this.#changedRows() !== before) forget = await this.#count();
      this.db.exec('commit');
      onCommit();
      return result;
    } catch (error) {
      if (this.db.isTransaction) this.db.exec('rollback');
      await forget?.().catch(() => {});
      throw this.#name(error);
    }
  }

  /** Counts the transaction among the changes of the catalog, and records its revocations; see `keepRevocation`. */
  async #count(): Promise<(() => Promise<void>) | undefined> {
    const { changes } = (await this.get<{ changes: number }>('revisions.count_change'))!;
    if (this.#revoked.length === 0) return undefined;
    const { catalog } = (await this.get<{ catalog: string }>('store.identity'))!;
    return keepRevocation(dirname(this.#path), { changes, catalog, statements: this.#revoked });
  }

  /** Rows that this connection has changed so far. */
  #changedRows(): number {
    this.#changed ??= this.db.prepare('select total_changes() as rows');
    return this.#changed.get()!['rows'] as number;
  }

  /** Retries while another connection writes, without blocking the process, which may be the writer. */
  async #whenFree<T>(attempt: () => T): Promise<T> {
    const deadline = Date.now() + BUSY_TIMEOUT;
    for (let pause = 0; ; pause = 20 + Math.random() * 80) {
      this.db.exec('pragma busy_timeout = 0');
      try {
        return this.#named(attempt);
      } catch (error) {
        if (!isBusy(error) || Date.now() > deadline) throw error;
      } finally {
        this.db.exec(`pragma busy_timeout = ${BUSY_TIMEOUT}`);
      }
      await sleep(pause);
    }
  }

  close(): void {
    this.#statements.clear();
    if (this.db.isOpen) this.db.close();
  }

  /** Adds the name of the catalog to failures of SQLite. */
  #named<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#name(error);
    }
  }

  #name(error: unknown): unknown {
    return nameCatalogFailure(error, this.#path, this.isFrozen);
  }

  #statement(statement: Statement): StatementSync {
    const key = keyOf(statement);
    let prepared = this.#statements.get(key);
    if (prepared === undefined) {
      prepared = this.db.prepare(textOf(statement));
      this.#statements.set(key, prepared);
    }
    return prepared;
  }
}

function keyOf(statement: Statement): string {
  return typeof statement === 'string' ? statement : cacheKey(statement.template, statement.fills);
}

function textOf(statement: Statement): string {
  return typeof statement === 'string'
    ? catalogText(`catalog/${statement}`)
    : sqlTemplate(`catalog/${statement.template}`, statement.fills);
}

function* nextOf<Row>(rows: Iterator<Row>): Generator<void, Row[]> {
  const batch: Row[] = [];
  while (batch.length < BATCH) {
    const next = rows.next();
    if (next.done === true) break;
    batch.push(next.value);
    yield;
  }
  return batch;
}

function* runFor<Row extends Values>(statement: StatementSync, rows: Iterable<Row>): Generator<void, Row[]> {
  const changed: Row[] = [];
  for (const row of rows) {
    if (Number(statement.run(row).changes) > 0) changed.push(row);
    yield;
  }
  return changed;
}
