import { setTimeout as pause } from 'node:timers/promises';
import { sqlText } from '../../runtime/sql.ts';
import { CatalogMissing, newerCatalog } from '../failures.ts';
import { changesSince, SCHEMA_VERSION } from '../schema.ts';
import { type Connection, type PostgresPool, poolOf } from './pool.ts';

/**
 * Advisory locks of the catalog: `pg_advisory_xact_lock(space, number)`. `take_provider_request` (a function of the database)
 * takes number 3. Other locks of the service have spaces of their own.
 */
export const ADVISORY = {
  space: 7_303_780,
  migration: 1,
  /** Exclusive for a transaction that must be alone, shared for others. */
  transaction: 2,
} as const;

/** A table is in use, or a writer waits for one that the migration has. */
const IN_THE_WAY = ['55P03', '40P01'];

type Queries = Pick<Connection, 'query'>;

/** A table that others use is waited for this long, in milliseconds: their statements wait behind the migration. */
const LOCK_TIMEOUT = 2000;
/** Pause until the next attempt, in milliseconds, and how many there are: five minutes. */
const PAUSE = 1000;
const ATTEMPTS = 100;

/**
 * The schema version of a catalog; 0 if the database has none. Throws if a newer release has taken away what this one needs.
 */
export async function readApplied(client: Queries): Promise<number> {
  const there = await client.query(sqlText('catalog/postgres/database.exists'));
  if (there.rows.length === 0) return 0;
  const found = await client.query<{ applied: number; oldest: number }>(sqlText('catalog/postgres/database.schema'));
  const { applied, oldest } = found.rows[0]!;
  if (oldest > SCHEMA_VERSION) throw newerCatalog(oldest, SCHEMA_VERSION);
  return applied;
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
  for (const { text, version } of changesSince('postgres', await readApplied(client))) {
    await client.query(text);
    await client.query(`update catalog_version set migrations = ${version}, value = value + 1`);
  }
}

/** The schema version of a catalog, without changing the catalog. Throws if there is none, or for a newer release's. */
export async function readSchemaVersion(url: string): Promise<{ catalog: string; found: number }> {
  const pool = poolOf(url);
  try {
    const found = await pool.use(readApplied);
    const { name: catalog } = pool.address;
    if (found === 0) throw new CatalogMissing(`There is no catalog in ${catalog}. Check ORDINATE_CATALOG.`);
    return { catalog, found };
  } finally {
    await pool.close();
  }
}
