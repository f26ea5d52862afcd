import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit, { type LimitFunction } from 'p-limit';
import { sqlText } from '../../runtime/sql.ts';
import type { Catalog, CatalogVersion, LoadLock, OpenCatalog, Statement, Statements, Values } from '../catalog.ts';
import { CatalogFailure } from '../failures.ts';
import { CatalogScope } from '../scope.ts';
import { ADVISORY } from './advisory.ts';
import { translate } from './dialect.ts';
import type { Client, Connection, PostgresPool } from './pool.ts';
import { PostgresLoadLock, PostgresLocks } from './postgres-locks.ts';
import { Session } from './session.ts';
import { SnapshotCache } from './snapshot-cache.ts';
import { VersionReader } from './version.ts';

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
