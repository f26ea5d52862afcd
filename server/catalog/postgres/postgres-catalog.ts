import { AsyncLocalStorage } from 'node:async_hooks';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { type CacheKey, cacheKey } from '../../domain/cache-key.ts';
import { sqlText } from '../../runtime/sql.ts';
import type { Catalog, CatalogVersion, LoadLock, OpenCatalog, Statement, Statements, Values } from '../catalog.ts';
import { CatalogFailure, CatalogMissing } from '../failures.ts';
import { type CatalogLocation, hasFacts, makeDataFolder, noteCatalogElsewhere, requireRestored } from '../location.ts';
import { SCHEMA_VERSION } from '../schema.ts';
import { CatalogScope } from '../scope.ts';
import { translate } from './dialect.ts';
import { ADVISORY, migrate, readApplied } from './migrations.ts';
import { type Client, type Connection, type PostgresPool, poolOf } from './pool.ts';
import { PostgresLoadLock, PostgresLocks } from './postgres-locks.ts';
import { Session } from './session.ts';
import { type Version, VersionReader } from './version.ts';

/** Rows of one version that are remembered, some 500 bytes each. */
const MAX_ROWS = 10_000;

type Rows = LRUCache<CacheKey, readonly object[]>;

/** Snapshots that read from memory what was read of the same version of the catalog before. */
class SnapshotCache {
  readonly #snapshot: Catalog['snapshot'];
  /** What was read of a version goes with it. */
  readonly #rows = new WeakMap<Version, Rows>();

  /** @param snapshot of the database */
  constructor(snapshot: Catalog['snapshot']) {
    this.#snapshot = snapshot;
  }

  /** See `Catalog.cachedSnapshot`. Opens a snapshot of the database only for what is not in memory. */
  async read<T>(version: Version, reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    const statements = new CachedStatements(this.#snapshot, version, this.#rowsOf(version));
    const scope = new CatalogScope(statements, { mayWrite: false });
    let result: T | undefined;
    try {
      result = await reads(scope);
    } catch (error) {
      if (!statements.isOutdated) throw error;
    } finally {
      scope.end();
      statements.end();
    }
    return statements.isOutdated ? this.#snapshot(reads) : (result as T);
  }

  #rowsOf(version: Version): Rows {
    let rows = this.#rows.get(version);
    if (rows === undefined) {
      rows = new LRUCache({ maxSize: MAX_ROWS, sizeCalculation: ({ length }) => length + 1 });
      this.#rows.set(version, rows);
    }
    return rows;
  }
}

/** A snapshot of the database. */
interface Opened {
  readonly statements: Statements;
  readonly version: Promise<Pick<Version, 'value'> | undefined>;
}

/** Statements of one version of the catalog. */
class CachedStatements implements Statements {
  readonly #snapshot: Catalog['snapshot'];
  readonly #version: Version;
  readonly #rows: Rows;
  readonly #ended = Promise.withResolvers<void>();
  #opened: Promise<Opened> | undefined;
  /** Whether something was committed between the read of the version and the snapshot of the database. */
  isOutdated = false;

  constructor(snapshot: Catalog['snapshot'], version: Version, rows: Rows) {
    this.#snapshot = snapshot;
    this.#version = version;
    this.#rows = rows;
  }

  async get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return (await this.all<Row>(statement, values))[0];
  }

  /** The rows are frozen, because others read them too. */
  async all<Row>(statement: Statement, values: Values = {}): Promise<Row[]> {
    const key = cacheKey(statement, values);
    const known = this.#rows.get(key);
    if (known !== undefined) return known as Row[];
    const opened = await this.#open();
    // Both were sent before the first is answered.
    const [rows] = await Promise.all([opened.statements.all<Row & object>(statement, values), this.#check(opened)]);
    for (const row of rows) Object.freeze(row);
    this.#rows.set(key, Object.freeze(rows));
    return rows;
  }

  async *each<Row>(statement: Statement, values?: Values): AsyncGenerator<readonly Row[], void> {
    const opened = await this.#open();
    await this.#check(opened);
    yield* opened.statements.each<Row>(statement, values);
  }

  run = refuse;
  send = refuse;
  runEach = refuse;

  /** Ends the snapshot of the database. */
  end(): void {
    this.#ended.resolve();
  }

  #open(): Promise<Opened> {
    if (this.#opened === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<Opened>();
      this.#opened = promise;
      this.#snapshot(async ({ statements }) => {
        // Its first statement, so that no commit comes between it and others.
        const version = statements.get<Version>('database.version');
        resolve({ statements, version });
        await Promise.allSettled([version, this.#ended.promise]);
      }).catch(reject);
    }
    return this.#opened;
  }

  async #check({ version }: Opened): Promise<void> {
    if ((await version)?.value === this.#version.value) return;
    this.isOutdated = true;
    throw new Error('The catalog has changed since its version was read.');
  }
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('A snapshot is read-only.'));
}

const RAISE = translate(sqlText('catalog/postgres/database.raise_version')).text;
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only';
const beginTransaction = (lock: string): string =>
  `begin; select pg_advisory_xact_lock${lock}(${ADVISORY.space}, ${ADVISORY.transaction})`;

/** The catalog in a PostgreSQL database, for processes on several machines. */
export class PostgresCatalog implements OpenCatalog, Statements {
  readonly locks: PostgresLocks;
  readonly #pool: PostgresPool;
  readonly #version: VersionReader;
  readonly #cache = new SnapshotCache((reads) => this.snapshot(reads));
  /** Limits snapshots to fewer than connections, so that single statements need not wait. */
  readonly #snapshots: LimitFunction;
  /** Queues transactions: each would hold a connection while it waits for the same lock. */
  readonly #alone = pLimit(1);
  /** The transaction that a call is part of. */
  readonly #outer = new AsyncLocalStorage<{ isOpen: boolean }>();
  #isClosed = false;

  /** @param pool closed with the catalog */
  constructor(pool: PostgresPool) {
    this.#pool = pool;
    this.locks = new PostgresLocks(pool);
    this.#version = new VersionReader(pool);
    this.#snapshots = pLimit(Math.floor(pool.connections / 2));
  }

  get statements(): Statements {
    return this;
  }

  get connections(): NonNullable<OpenCatalog['connections']> {
    const { limit, used, waiting } = this.#pool.usage;
    return { limit, used, waiting: waiting + this.#snapshots.pendingCount + this.#alone.pendingCount };
  }

  get<Row>(statement: Statement, values?: Values): Promise<Row | undefined> {
    return this.#use((client) => new Session(client).get<Row>(statement, values));
  }

  all<Row>(statement: Statement, values?: Values): Promise<Row[]> {
    return this.#use((client) => new Session(client).all<Row>(statement, values));
  }

  async *each<Row>(statement: Statement, values?: Values): AsyncGenerator<readonly Row[], void> {
    yield await this.all<Row>(statement, values);
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

  version(): CatalogVersion | Promise<CatalogVersion> {
    return this.#version.read();
  }

  prefetchVersion(): void {
    const version = this.#version.read();
    // Callers of `version` get the failure.
    if (version instanceof Promise) version.catch(() => {});
  }

  async size(): Promise<number> {
    return (await this.get<{ bytes: number }>('database.size'))!.bytes;
  }

  async check(): Promise<void> {
    await this.get('database.ping');
  }

  snapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#snapshots(() =>
      this.#use(async (client) => {
        resolve(await inScope(client, new Session(client), { begin: BEGIN_SNAPSHOT, mayWrite: false }, reads));
        // The caller need not wait.
        await client.query('commit');
      }),
    ).catch(reject);
    return promise;
  }

  async cachedSnapshot<T>(reads: (snapshot: Catalog) => Promise<T>): Promise<T> {
    const version = this.#version.read();
    // Not awaited if it is known, because it is known only in this turn of the event loop.
    const known = version instanceof Promise ? await version : version;
    return this.#cache.read(known, reads).catch((error: unknown) => {
      throw this.#pool.named(error);
    });
  }

  transaction<T>(writes: (tx: Catalog) => Promise<T>, lock?: LoadLock): Promise<T> {
    if (this.#outer.getStore()?.isOpen === true) {
      const message =
        'This is part of a transaction that is open: write to its own catalog, for this would wait for its end.';
      return Promise.reject(new Error(message));
    }
    if (!(lock instanceof PostgresLoadLock)) {
      return this.#alone(() => this.#use((client) => this.#write(client, beginTransaction(''), writes)));
    }
    // On the connection of the lock, so that nothing is committed without it.
    const begin = beginTransaction(lock.isForAll ? '' : '_shared');
    return lock.alone(() => this.#write(lock.connection, begin, writes));
  }

  async #write<T>(client: Client | Connection, begin: string, writes: (tx: Catalog) => Promise<T>): Promise<T> {
    const session = new Session(client);
    const outer = { isOpen: true };
    try {
      const result = await this.#outer.run(outer, () => inScope(client, session, { begin, mayWrite: true }, writes));
      await commit(client, session, this.#pool);
      this.#version.outdate();
      return result;
    } catch (error) {
      // After a sent statement has failed, all later ones fail because of it.
      const first = await session.settle().then(
        () => error,
        (failure: unknown) => failure,
      );
      // If this fails, the connection is lost, or is not used again.
      await client.query('rollback').catch(() => {});
      throw this.#pool.named(first);
    } finally {
      outer.isOpen = false;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.locks.close();
    await this.#version.close();
    await this.#pool.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new Error('The catalog has been closed.'));
    return this.#pool.use(work);
  }
}

/** Runs `work` in a transaction that its caller ends. */
async function inScope<T>(
  client: Client | Connection,
  session: Session,
  { begin, mayWrite }: { readonly begin: string; readonly mayWrite: boolean },
  work: (scope: Catalog) => Promise<T>,
): Promise<T> {
  const scope = new CatalogScope(session, { mayWrite });
  try {
    const begun = client.query(begin);
    // A snapshot sends its first statement without waiting for this.
    if (mayWrite) await begun;
    const [result] = await Promise.all([work(scope), begun]);
    return result;
  } finally {
    scope.end();
    session.end();
  }
}

/** Sends the commit without waiting for earlier statements, because a shared row is locked until then. */
async function commit(client: Client | Connection, session: Session, pool: PostgresPool): Promise<void> {
  const committing = client.query(`${RAISE}; commit`);
  committing.catch(() => {});
  try {
    await session.settle();
    await committing;
  } catch (error) {
    const known = pool.named(error);
    if (!(known instanceof CatalogFailure) || known.resource !== 'database-unreachable') throw known;
    throw new CatalogFailure(
      `${known.message} The connection was lost during a commit: whether it took effect must be looked up.`,
      { cause: error, resource: known.resource },
    );
  }
}

/** See `openCatalog`. */
export async function openPostgres(
  { dataFolder, catalogUrl, catalogConnections }: CatalogLocation,
  { create }: { create: boolean },
): Promise<OpenCatalog> {
  const pool = poolOf(catalogUrl, catalogConnections);
  try {
    requireRestored(dataFolder);
    if (create) makeDataFolder(dataFolder);
    const found = await pool.use(readApplied);
    if (found === 0) requireNoFacts(pool, dataFolder, create);
    if (found < SCHEMA_VERSION) await migrate(pool);
    noteCatalogElsewhere(dataFolder, pool.address.name);
    return new PostgresCatalog(pool);
  } catch (error) {
    await pool.close();
    throw pool.named(error);
  }
}

/** Throws if there are facts, or without `create`. */
function requireNoFacts(pool: PostgresPool, dataFolder: string, create: boolean): void {
  const { name } = pool.address;
  if (hasFacts(dataFolder)) {
    throw new CatalogMissing(
      `There is no catalog in ${name}, but '${dataFolder}' contains facts; nothing was changed. If it was lost, restore the database with its own tools (pg_restore, or recovery to an instant), or a backup of both. If it is in the folder, copy it: 'ordinate catalog copy --to ADDRESS', without ORDINATE_CATALOG.`,
    );
  }
  if (create) return;
  throw new CatalogMissing(
    `There is no catalog in ${name}. Check ORDINATE_CATALOG; serve, load, import, demo and workspaces create make a new one.`,
  );
}
