import type { DatabaseSync } from 'node:sqlite';
import { sqlNames, sqlText } from '../../runtime/sql.ts';

const MIGRATIONS = sqlNames('catalog/migrations');
/** What this version makes of a catalog: how many migrations it has been through. */
export const SHAPE = MIGRATIONS.length;

/** How many migrations a catalog has been through. */
export function shapeOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version']);
}

/** Brings a catalog up to date. */
export function migrate(db: DatabaseSync): void {
  const found = shapeOf(db);
  if (found > SHAPE) {
    throw new Error(
      `The catalog was made by a newer version of Ordinate (its shape is ${found}, this version knows ${SHAPE}). Install that version again.`,
    );
  }
  if (found === SHAPE) return;
  db.exec('begin immediate');
  try {
    // Read again inside: another process may have been faster.
    for (let shape = shapeOf(db); shape < SHAPE; shape++) {
      db.exec(sqlText(MIGRATIONS[shape]!));
      db.exec(`pragma user_version = ${shape + 1}`);
    }
    db.exec('commit');
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}
