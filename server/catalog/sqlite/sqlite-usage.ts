import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { classifyFailure } from '../../domain/failures.ts';
import { sqlTemplate } from '../../runtime/sql.ts';
import type { Values } from '../catalog.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import type { Usage } from '../usage.ts';
import { change, openFrozen, schemaVersionOf } from './connection.ts';

/** Writes are short, so a longer lock is not waited for. In milliseconds. */
const BUSY_TIMEOUT = 50;
/** SQLite codes for a damaged file, or a file that is not a database. */
const DAMAGED = [11, 26];

/**
 * Usage data in a file, `usage.sqlite` in the data folder, shared by all processes. A damaged file is replaced by an empty
 * one.
 */
export class SqliteUsage implements Usage {
  readonly #onError: (error: unknown) => void;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync | undefined;

  /**
   * @param onError called for failed reads and writes
   * @param onlyReads allows reading on a full disk
   */
  constructor(dataFolder: string, onError: (error: unknown) => void, onlyReads = false) {
    this.#onError = onError;
    const path = join(dataFolder, 'usage.sqlite');
    try {
      this.#db = open(path);
    } catch (error) {
      if (onlyReads && classifyFailure(error) === 'disk-full') this.#db = this.#try(() => openOnFullDisk(path));
      if (this.#db !== undefined) return;
      onError(error);
      if (!DAMAGED.includes(codeOf(error))) return;
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      this.#db = this.#try(() => open(path));
    }
  }

  async get<Row>(name: string, values: Values = {}): Promise<Row | undefined> {
    return this.#try(() => this.#statement(name)?.get(values)) as Row | undefined;
  }

  async all<Row>(name: string, values: Values = {}): Promise<Row[]> {
    return (this.#try(() => this.#statement(name)?.all(values)) ?? []) as Row[];
  }

  async run(name: string, values: Values = {}): Promise<boolean> {
    return (await this.change(name, values)) !== undefined;
  }

  async change(name: string, values: Values = {}): Promise<number | undefined> {
    const result = this.#try(() => this.#statement(name)?.run(values));
    return result && Number(result.changes);
  }

  async close(): Promise<void> {
    this.#statements.clear();
    this.#db?.close();
    this.#db = undefined;
  }

  #statement(name: string): StatementSync | undefined {
    let statement = this.#statements.get(name);
    if (statement === undefined && this.#db !== undefined) {
      statement = this.#db.prepare(sqlTemplate(`usage/${name}`, { now: 'cast($at as bigint)', hash: '' }));
      this.#statements.set(name, statement);
    }
    return statement;
  }

  #try<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }
}

function open(path: string): DatabaseSync {
  // Only readable by its owner, for any umask; SQLite gives its other files the same mode.
  closeSync(openSync(path, 'a', 0o600));
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
  try {
    db.exec('pragma journal_mode = wal');
    // Durability is not needed.
    db.exec('pragma synchronous = off');
    if (schemaVersionOf(db) < SCHEMA_VERSION) change(db, 'sqlite-usage');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens an existing file for reading; undefined if impossible. */
function openOnFullDisk(path: string): DatabaseSync | undefined {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return openFrozen(path);
  const empty = new DatabaseSync(':memory:');
  change(empty, 'sqlite-usage');
  return empty;
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}
