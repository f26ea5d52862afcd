import { sqlText } from '../../runtime/sql.ts';
import type { Catalog } from '../catalog.ts';
import { CatalogScope } from '../scope.ts';
import { migrateIn, readApplied } from './migrations.ts';
import { type PostgresPool, poolOf } from './pool.ts';
import { PostgresCatalog } from './postgres-catalog.ts';
import { Session } from './session.ts';

/** See `CopyTarget`. */
export class PostgresTarget implements AsyncDisposable {
  readonly name: string;
  readonly hasCatalog: boolean;
  readonly #pool: PostgresPool;
  readonly #url: string;

  constructor(url: string, pool: PostgresPool, hasCatalog: boolean) {
    this.#url = url;
    this.#pool = pool;
    this.name = pool.address.name;
    this.hasCatalog = hasCatalog;
  }

  async read<T>(work: (copy: Catalog) => Promise<T>): Promise<T> {
    await using catalog = new PostgresCatalog(poolOf(this.#url));
    return await catalog.snapshot(work);
  }

  /** Also creates the tables in this transaction: until its commit, there is no catalog. */
  async fill<T>(work: (copy: Catalog) => Promise<T>): Promise<T> {
    const connection = await this.#pool.connect({ statement_timeout: 0, lock_timeout: 0, query_timeout: 0 });
    try {
      await connection.query('begin');
      await migrateIn(connection);
      const session = new Session(connection);
      const result = await work(new CatalogScope(session, { mayWrite: true }));
      session.end();
      await session.settle();
      await connection.query(sqlText('catalog/postgres/database.copied'));
      await connection.query('update catalog_version set value = value + 1; commit');
      // The server would do this itself, but later. Concurrent calls may fail at a system table.
      await connection.query('analyze').catch(() => {});
      return result;
    } catch (error) {
      throw this.#pool.named(error);
    } finally {
      await connection.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.close();
  }
}

export async function openPostgresTarget(url: string): Promise<PostgresTarget> {
  const pool = poolOf(url);
  try {
    return new PostgresTarget(url, pool, (await pool.use(readApplied)) > 0);
  } catch (error) {
    await pool.close();
    throw error;
  }
}
