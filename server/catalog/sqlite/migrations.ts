import type { DatabaseSync } from 'node:sqlite';
import { sqlNames, sqlText } from '../../runtime/sql.ts';

const MIGRATIONS = sqlNames('catalog/migrations');
/** What this version makes of a catalog: how many migrations it has been through. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** How many migrations a catalog has been through. */
export function schemaVersionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Brings a catalog up to date. */
export function migrate(db: DatabaseSync): void {
  const found = schemaVersionOf(db);
  if (found > SCHEMA_VERSION) {
    throw new Error(
      `The catalog was made by a newer version of Ordinate (its schema version is ${found}, this version knows ${SCHEMA_VERSION}). Install that version again.`,
    );
  }
  if (found === SCHEMA_VERSION) return;
  db.exec('begin immediate');
  try {
    // Read again inside: another process may have been faster.
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
