import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { sqlText } from '../runtime/sql.ts';
import type { Values } from './catalog.ts';

const TABLES = [
  'create_list_uses',
  'create_list_uses_index',
  'create_page_sequences',
  'create_page_sequences_index',
  'create_key_uses',
  'create_job_states',
  'create_provider_requests',
  'create_provider_requests_index',
] as const;
/** Writes are tiny: another process that holds the lock for longer is not waited for, in milliseconds. */
const BUSY_TIMEOUT = 50;
/** SQLite: the file is damaged, or is no database. */
const DAMAGED = [11, 26];

/**
 * How the service is used, as opposed to what it stores: `usage.sqlite` in the data folder, shared by all processes. A
 * commit to the catalog makes every process read keys and projects again; what is written with each request goes here.
 * It can be lost without harm: a damaged file is replaced by an empty one, and what cannot be written is given up. Only
 * repositories, the functions of this folder, run its statements.
 */
export class UsageDatabase {
  readonly #onError: (error: unknown) => void;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync | undefined;

  /** @param onError is told of what could not be read or written */
  constructor(dataFolder: string, onError: (error: unknown) => void) {
    this.#onError = onError;
    const path = join(dataFolder, 'usage.sqlite');
    try {
      this.#db = open(path);
    } catch (error) {
      onError(error);
      if (!DAMAGED.includes(codeOf(error))) return;
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      this.#db = this.#try(() => open(path));
    }
  }

  /** First row of a query; undefined where there is none or the database does not answer. */
  async get<Row>(name: string, values: Values = {}): Promise<Row | undefined> {
    return this.#try(() => this.#statement(name)?.get(values)) as Row | undefined;
  }

  /** All rows of a query; none where the database does not answer. */
  async all<Row>(name: string, values: Values = {}): Promise<Row[]> {
    return (this.#try(() => this.#statement(name)?.all(values)) ?? []) as Row[];
  }

  /** Runs a statement that changes rows; false where it could not be written. */
  async run(name: string, values: Values = {}): Promise<boolean> {
    return (await this.change(name, values)) !== undefined;
  }

  /** As `run`; returns how many rows were changed, and undefined where it could not be written. */
  async change(name: string, values: Values = {}): Promise<number | undefined> {
    const result = this.#try(() => this.#statement(name)?.run(values));
    return result && Number(result.changes);
  }

  close(): void {
    this.#statements.clear();
    this.#db?.close();
    this.#db = undefined;
  }

  #statement(name: string): StatementSync | undefined {
    let statement = this.#statements.get(name);
    if (statement === undefined && this.#db !== undefined) {
      statement = this.#db.prepare(sqlText(`usage/${name}`));
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
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT });
  try {
    db.exec('pragma journal_mode = wal');
    // Nothing here is worth a wait for the disk.
    db.exec('pragma synchronous = off');
    for (const name of TABLES) db.exec(sqlText(`usage/${name}`));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
}
