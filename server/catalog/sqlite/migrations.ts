import type { DatabaseSync } from 'node:sqlite';
import { sqlNames, sqlText } from '../../runtime/sql.ts';
import { newerCatalog } from '../failures.ts';

/** The names of all migrations, in order. */
export const MIGRATIONS = sqlNames('catalog/migrations');
/** The schema version of this release: the number of migrations. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The schema version of a catalog. */
export function schemaVersionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Migrates a catalog to `SCHEMA_VERSION`. */
export function migrate(db: DatabaseSync): void {
  const found = schemaVersionOf(db);
  if (found > SCHEMA_VERSION) {
    throw newerCatalog(found, SCHEMA_VERSION);
  }
  if (found === SCHEMA_VERSION) return;
  db.exec('begin immediate');
  try {
    // Read again in the transaction, because another process may have migrated it.
    for (let version = schemaVersionOf(db); version < SCHEMA_VERSION; version++) {
      db.exec(sqlText(MIGRATIONS[version]!));
      db.exec(`pragma user_version = ${version + 1}`);
    }
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}
