import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** The disk has no room for the index of the log, which SQLite needs to read (`SQLITE_IOERR_SHMSIZE`). */
const NO_ROOM = 4874;

/** Whether a database cannot even be read because the disk is full. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === NO_ROOM;
}

/**
 * Opens a database on a full disk for reading, without a log. Nobody writes to it: a writer would have an index of the
 * log. Undefined if the log has changes.
 */
export function openFrozen(path: string): DatabaseSync | undefined {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}
