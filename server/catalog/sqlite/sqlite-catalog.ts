import pLimit from 'p-limit';
import { unavailable } from '../../domain/errors.ts';
import { sqlText } from '../../runtime/sql.ts';
import type {
  Catalog,
  CatalogVersion,
  OpenCatalog,
  OpenCatalogOptions,
  Statement,
  Statements,
  Values,
} from '../catalog.ts';
import { type Progress, raiseChanges } from '../fact-files.ts';
import { nameCatalogFailure } from '../failures.ts';
import { FileLocks } from '../file-locks.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import { CatalogScope } from '../scope.ts';
import { CatalogFile, requireChanges } from './catalog-file.ts';
import { Connection, hasNoRoom, migrate, schemaVersionOf } from './connection.ts';
import { hasNoIdentity, identityByCopies, readBeside, requireNewest } from './copies.ts';
import { type Revocation, revocationsAfter, revokeAgain } from './revocations.ts';

/** Maximum concurrent snapshots of one process; each has its own connection. */
const MAX_SNAPSHOTS = 16;
/** Idle connections for the next snapshot or transaction. */
const MAX_IDLE = 4;

/**
 * The catalog as an SQLite file (WAL: readers never wait). Single statements share one connection without open
 * transactions; snapshots and transactions have separate connections, so that they do not interfere.
 */
export class SqliteCatalog implements OpenCatalog, Statements {
  readonly locks: FileLocks;
  readonly #file: CatalogFile;
  readonly #main: Connection;
  #version: { readonly others: number } = { others: -1 };
  /** SQLite's data version in this turn of the event loop. */
  #others: number | undefined;
  /** The data version for which the schema version was checked. */
  #looked: number | undefined;
  readonly #snapshots = pLimit(MAX_SNAPSHOTS);
  readonly #idle: Connection[] = [];

  /** See `openCatalog`. */
  constructor(dataFolder: string, { create = true, mayBeOlder = false }: OpenCatalogOptions = {}) {
    this.locks = new FileLocks(dataFolder);
    this.#file = new CatalogFile(dataFolder);
    let main: Connection | undefined;
    try {
      const beside = readBeside(dataFolder);
      this.#file.prepare({ create });
      main = openMain(this.#file.path, create);
      this.#main = main;
      if (schemaVersionOf(main.db) === 0) this.#file.refuseWhereFactsAre('empty');
      main.configure();
      const requireThisNewest = (): void => {
        if (!mayBeOlder) requireNewest(dataFolder, beside, this.#progress());
      };
      const { db } = main;
      migrate(db, (found) => {
        const identity = hasNoIdentity(found) ? identityByCopies(dataFolder, db) : undefined;
        if (identity !== undefined) db.prepare(sqlText('catalog/store.part')).run({ catalog: identity });
        // An older one is refused as it is.
        requireThisNewest();
      });
      requireThisNewest();
    } catch (error) {
      main?.close();
      throw nameCatalogFailure(error, this.#file.path, main?.isFrozen);
    }
  }

  /**
   * Revokes what was recorded and not committed: a process was killed in between, or an older catalog was put back that no
   * copy tells apart.
   */
  async catchUp(): Promise<void> {
    const { dataFolder } = this.#file;
    // On a full disk it is only read.
    if (this.#main.isFrozen) return;
    const identity = this.#main.db.prepare(sqlText('catalog/store.identity')).get()?.['catalog'];
    const missed = (): readonly Revocation[] =>
      revocationsAfter(dataFolder, this.#progress().changes, String(identity));
    if (missed().length === 0) return;
    await this.transaction(async (tx) => {
      // Another process may just have committed them.
      const revocations = missed();
      await revokeAgain(tx, revocations);
      await raiseChanges(tx, revocations.at(-1)?.changes ?? 0);
    });
  }

  #progress(): Progress {
    return this.#main.db.prepare(sqlText('catalog/revisions.publication')).get() as unknown as Progress;
  }

  get statements(): Statements {
    return this;
  }

  get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return this.#main.get(statement, values);
  }

  all<Row>(statement: Statement, values?: Values): Promise<Row[]> {
    return this.#main.all(statement, values);
  }

  async *each<Row>(statement: Statement, values?: Values): AsyncGenerator<readonly Row[], void> {
    // All at once, because this connection sees no commits of others during a query.
    yield await this.#main.all(statement, values);
  }

  run(statement: Statement, values?: Values): Promise<number> {
    return this.transaction((scope) => scope.statements.run(statement, values));
  }

  async send(statement: Statement, values?: Values): Promise<void> {
    await this.run(statement, values);
  }

  runEach<Row extends Values>(statement: Statement, rows: Iterable<Row>): Promise<Row[]> {
    return this.transaction((scope) => scope.statements.runEach(statement, rows));
  }

  /** Nothing to prepare. */
  prefetchVersion(): void {}

  version(): CatalogVersion {
    if (this.#others === undefined) {
      try {
        this.#file.check();
      } catch (error) {
        throw unavailable('The service has lost its catalog.', 'catalog-lost', error);
      }
      const { dataVersion } = this.#main;
      if (dataVersion !== this.#looked) {
        if (schemaVersionOf(this.#main.db) !== SCHEMA_VERSION) {
          throw unavailable('The data is used by a newer version of the service.', 'newer-version');
        }
        this.#looked = dataVersion;
      }
      this.#others = dataVersion;
      setImmediate(() => {
        this.#others = undefined;
      });
    }
    if (this.#version.others !== this.#others) this.#version = { others: this.#others };
    return this.#version;
  }

  size(): Promise<number> {
    return this.#file.size();
  }

  async check(): Promise<void> {
    this.#file.check();
    await this.get('database.ping');
  }

  snapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    return this.#snapshots(() =>
      this.#alone({ mayWrite: false }, (connection, scope) => connection.read(() => reads(scope))),
    );
  }

  /** Reads take microseconds. */
  cachedSnapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    return this.snapshot(reads);
  }

  async transaction<T>(writes: (tx: Catalog) => Promise<T>): Promise<T> {
    this.#file.check();
    // The data version may have been read in this turn already.
    const onCommit = (): void => {
      this.#others = undefined;
    };
    return this.#alone({ mayWrite: true }, (connection, scope) => {
      const work = async (): Promise<T> => {
        // No other writer runs.
        requireChanges(this.#file.dataFolder);
        return writes(scope);
      };
      return connection.write(work, onCommit);
    });
  }

  /** Does not close connections to a replaced file: SQLite would write to it or remove its log. */
  async close(): Promise<void> {
    const open = [...this.#idle.splice(0), this.#main].filter(({ db }) => db.isOpen);
    try {
      if (open.length > 0) this.#file.check();
    } catch {
      return;
    }
    for (const connection of open) connection.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs `work` on an exclusive connection. */
  async #alone<T>(
    options: { readonly mayWrite: boolean },
    work: (connection: Connection, scope: CatalogScope) => Promise<T>,
  ): Promise<T> {
    if (!this.#main.db.isOpen) throw new Error('The catalog has been closed.');
    const connection = this.#idle.pop() ?? this.#connect();
    const scope = new CatalogScope(connection, options);
    try {
      return await work(connection, scope);
    } finally {
      const isFree = scope.end();
      if (isFree && this.#main.db.isOpen && this.#idle.length < MAX_IDLE) this.#idle.push(connection);
      else connection.close();
    }
  }

  #connect(): Connection {
    let connection: Connection | undefined;
    try {
      this.#file.check();
      connection = this.#main.isFrozen ? Connection.openFrozen(this.#file.path)! : Connection.open(this.#file.path);
      connection.configure();
      return connection;
    } catch (error) {
      connection?.close();
      throw nameCatalogFailure(error, this.#file.path);
    }
  }
}

/** Opens the catalog; read-only if the disk is full and `create` is false. */
function openMain(path: string, create: boolean): Connection {
  const main = Connection.open(path);
  try {
    schemaVersionOf(main.db);
    return main;
  } catch (error) {
    main.close();
    const frozen = hasNoRoom(error) && !create ? Connection.openFrozen(path) : undefined;
    if (frozen === undefined) throw error;
    return frozen;
  }
}
