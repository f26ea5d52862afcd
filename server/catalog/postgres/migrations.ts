import { sqlNames, sqlText } from '../../runtime/sql.ts';
import { newerCatalog } from '../newer-catalog.ts';
import { ADVISORY } from './advisory.ts';
import type { Connection, PostgresPool } from './pool.ts';

/** The names of all migrations of PostgreSQL, in order. */
export const MIGRATIONS = sqlNames('catalog/postgres/migrations');
/** The schema version of this release: the number of migrations. */
export const SCHEMA_VERSION = MIGRATIONS.length;

type Queries = Pick<Connection, 'query'>;

/** The schema version of a catalog; 0 if the database has none. */
export async function schemaVersionOf(client: Queries): Promise<number> {
  const there = await client.query(sqlText('catalog/postgres/has_catalog'));
  if (there.rows.length === 0) return 0;
  const { rows } = await client.query<{ schema: number }>(sqlText('catalog/postgres/catalog_version'));
  return rows[0]!.schema;
}

/** Migrates a catalog to `SCHEMA_VERSION`, in one transaction, while no other process does. Returns the version before. */
export async function migrate(pool: PostgresPool): Promise<number> {
  // A migration may take as long as it needs.
  const client = await pool.connect({ statement_timeout: 0, lock_timeout: 0, query_timeout: 0 });
  try {
    const found = await schemaVersionOf(client);
    if (found > SCHEMA_VERSION) throw newerCatalog(found, SCHEMA_VERSION);
    if (found === SCHEMA_VERSION) return found;
    await client.query('begin');
    await migrateIn(client);
    await client.query('commit');
    return found;
  } catch (error) {
    throw pool.named(error);
  } finally {
    await client.end();
  }
}

/** Migrates a catalog in the transaction of a connection. */
export async function migrateIn(client: Queries): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${ADVISORY.space}, ${ADVISORY.migration})`);
  // Read only now: another process may have migrated it.
  for (let version = await schemaVersionOf(client); version < SCHEMA_VERSION; version++) {
    await client.query(sqlText(MIGRATIONS[version]!));
    await client.query(`update catalog_version set schema = ${version + 1}, value = value + 1`);
  }
}
