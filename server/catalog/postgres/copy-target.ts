import { sqlText } from '../../runtime/sql.ts';
import type { Catalog } from '../catalog.ts';
import { CatalogScope } from '../scope.ts';
import { migrateIn, readApplied } from './migrations.ts';
import { type Client, type PostgresPool, poolOf } from './pool.ts';
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

const NAME_PLACE = 'insert into catalog_was_copied.copy (place) values ($1)';
const ALLOW_CHANGES = 'drop schema catalog_was_copied cascade';

/**
 * Makes the catalog of a database read-only for all processes, because a copy would lack later changes. Waits for
 * running transactions. Returns a function that undoes this.
 * @param to name of the copy, without a password
 */
export async function stopChanges(url: string, to: string): Promise<() => Promise<void>> {
  const wasStopped = await withClient(url, async (client) => {
    const { rows } = await client.query("select 1 from pg_namespace where nspname = 'catalog_was_copied'");
    if (rows.length > 0) return true;
    await client.query('begin');
    await client.query(sqlText('catalog/postgres/database.stop_changes'));
    await client.query(NAME_PLACE, [to]);
    await client.query('commit');
    return false;
  });
  return async () => {
    if (!wasStopped) await withClient(url, (client) => client.query(ALLOW_CHANGES));
  };
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const pool = poolOf(url);
  try {
    return await pool.use(work);
  } finally {
    await pool.close();
  }
}
