import type { DatabaseSync } from 'node:sqlite';
import { newerCatalog } from '../failures.ts';
import { changesSince, SCHEMA_VERSION, type SchemaStore } from '../schema.ts';

/** The schema version of a database. */
export function schemaVersionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Migrates a catalog to `SCHEMA_VERSION`. */
export function migrate(db: DatabaseSync): void {
  const found = schemaVersionOf(db);
  if (found > SCHEMA_VERSION) throw newerCatalog(found, SCHEMA_VERSION);
  if (found < SCHEMA_VERSION) change(db, 'sqlite');
}

/** Makes the changes that a database lacks, all or none. */
export function change(db: DatabaseSync, store: Exclude<SchemaStore, 'postgres'>): void {
  db.exec('begin immediate');
  try {
    // Read in the transaction, because another process may have migrated it.
    for (const { text, version } of changesSince(store, schemaVersionOf(db))) {
      db.exec(text);
      db.exec(`pragma user_version = ${version}`);
    }
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}
