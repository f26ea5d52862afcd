import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Host } from '../host.ts';

/** SQLite's code of a full disk. */
const FULL = 13;

/**
 * The module `node:sqlite` of a process. A connection ends with its process, which rolls its transaction back. It never
 * waits for a lock: in one process the holder could not go on.
 */
export function sqliteOf(process: Host) {
  const requireRoom = (): void => {
    if (!process.machine.isFull) return;
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: FULL });
  };
  return {
    DatabaseSync: class extends DatabaseSync {
      constructor(path: string, options: object = {}) {
        super(path, { ...options, timeout: 0 });
        process.databases.add(this);
      }

      override exec(sql: string): void {
        if (sql.startsWith('pragma busy_timeout')) return;
        if (sql === 'commit' && process.machine.isFull) {
          super.exec('rollback');
          requireRoom();
        }
        super.exec(sql);
        if (sql === 'begin immediate') process.machine.onBegin(process);
        if (sql === 'commit') process.machine.onCommit(process);
      }

      override prepare(sql: string): StatementSync {
        const statement = super.prepare(sql);
        const run = statement.run.bind(statement);
        const isOutside = (): boolean => !this.isTransaction;
        return Object.assign(statement, {
          run: (...given: Parameters<StatementSync['run']>) => {
            if (isOutside()) requireRoom();
            return run(...given);
          },
        });
      }

      override close(): void {
        process.databases.delete(this);
        super.close();
      }
    },
  };
}
