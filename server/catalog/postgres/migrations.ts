import { setTimeout as pause } from 'node:timers/promises';
import { sqlNames, sqlText } from '../../runtime/sql.ts';
import { newerCatalog } from '../failures.ts';
import { ADVISORY } from './advisory.ts';
import type { Connection, PostgresPool } from './pool.ts';

/** The names of all migrations of PostgreSQL, in order. */
export const MIGRATIONS = sqlNames('catalog/postgres/migrations');
/** The schema version of this release: the number of migrations. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A table is in use, or a writer waits for one that the migration has. */
const IN_THE_WAY = ['55P03', '40P01'];

type Queries = Pick<Connection, 'query'>;

/** Migrations up to this number end all releases before them; later ones only those that `schema` excludes. */
const ROLLING_FROM = 16;
/** A table that others use is waited for this long, in milliseconds: their statements wait behind the migration. */
const LOCK_TIMEOUT = 2000;
/** Pause until the next attempt, in milliseconds, and how many there are: five minutes. */
const PAUSE = 1000;
const ATTEMPTS = 100;

/**
 * How many migrations were applied to a catalog; 0 if the database has none. Throws if a newer release has taken away what
 * this one needs.
 */
export async function readApplied(client: Queries): Promise<number> {
  const there = await client.query(sqlText('catalog/postgres/database.exists'));
  if (there.rows.length === 0) return 0;
  const found = await client.query<{ applied: number; oldest: number }>(
    sqlText('catalog/postgres/database.applied_migrations'),
  );
  const { applied, oldest } = found.rows[0]!;
  if (oldest > SCHEMA_VERSION) throw newerCatalog(oldest, SCHEMA_VERSION);
  return applied;
}

/** Whether releases before a migration can go on using the catalog. */
export function isRolling(name: string): boolean {
  return MIGRATIONS.indexOf(name) >= ROLLING_FROM && !/update catalog_version set schema/.test(sqlText(name));
}

/** Migrates a catalog to `SCHEMA_VERSION`, in one transaction, while no other process does and others go on. */
export async function migrate(pool: PostgresPool): Promise<void> {
  // A migration may take as long as it needs.
  const client = await pool.connect({ statement_timeout: 0, lock_timeout: LOCK_TIMEOUT, query_timeout: 0 });
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await client.query('begin');
        await migrateIn(client);
        await client.query('commit');
        return;
      } catch (error) {
        if (!IN_THE_WAY.includes((error as { code?: string }).code ?? '') || attempt === ATTEMPTS) throw error;
        await client.query('rollback');
        await pause(PAUSE);
      }
    }
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
  for (let version = await readApplied(client); version < SCHEMA_VERSION; version++) {
    await client.query(sqlText(MIGRATIONS[version]!));
    const column = version < ROLLING_FROM ? 'schema' : 'migrations';
    await client.query(`update catalog_version set ${column} = ${version + 1}, value = value + 1`);
  }
}
