import type { ResourceFailure } from '../domain/failures.ts';

/** Result codes of SQLite, https://www.sqlite.org/rescode.html: message and remedy. */
const FULL = ['cannot grow because its disk is full', 'Free some space and try again.'] as const;

const REASONS: Readonly<Record<number, readonly [string, string]>> = {
  3: ['may not be read or written by this user', 'Give the user that runs Ordinate access to it and to its folder.'],
  5: ['is locked by another process', 'Wait until it has ended, and try again.'],
  6: ['is locked by another process', 'Wait until it has ended, and try again.'],
  8: ['cannot be written by this user', 'Give the user that runs Ordinate access to it and to its folder.'],
  10: ['cannot be read or written because the disk is failing', 'Check the disk and the system log.'],
  11: ['is corrupt', "Stop Ordinate, move it away and run 'ordinate rebuild', which takes its last copy."],
  13: FULL,
  // The index of the log cannot grow.
  4874: FULL,
  14: [
    'cannot be opened',
    'Check that this user can read and write it and its folder, and that not too many files are open.',
  ],
  26: [
    'is not a catalog or was overwritten',
    "Stop Ordinate, move it away and run 'ordinate rebuild', which takes its last copy.",
  ],
};

/** The catalog cannot be used. The message, for the operator, names its file or database and a remedy. */
export class CatalogFailure extends Error {
  /** SQLite's result code, for failures of SQLite. */
  readonly errcode: number | undefined;
  /** The failure of the machine behind it, for failures of PostgreSQL. */
  readonly resource: ResourceFailure | undefined;

  constructor(message: string, options: { cause?: unknown; errcode?: number; resource?: ResourceFailure } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CatalogFailure';
    this.errcode = options.errcode;
    this.resource = options.resource;
  }
}

/** There is no catalog, although there are facts. */
export class CatalogMissing extends CatalogFailure {}

/**
 * Adds the file name and a remedy to a failure of SQLite. Other errors are returned unchanged.
 * @param isFrozen see `openFrozen`
 */
export function nameCatalogFailure(error: unknown, path: string, isFrozen = false): unknown {
  if (error instanceof CatalogFailure || !(error instanceof Error)) return error;
  const { errcode, code } = error as { errcode?: number; code?: string };
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return failure(REASONS[8]!, error, path);
  // It is only read because the disk is full.
  if (isFrozen && errcode === 8) return failure(FULL, error, path, 13);
  const reason = errcode === undefined ? undefined : (REASONS[errcode] ?? REASONS[errcode & 0xff]);
  return reason === undefined ? error : failure(reason, error, path, errcode);
}

function failure([what, remedy]: readonly [string, string], cause: Error, path: string, errcode?: number): Error {
  return new CatalogFailure(`The catalog '${path}' ${what} (${cause.message}). ${remedy}`, {
    cause,
    ...(errcode === undefined ? {} : { errcode }),
  });
}

/** Whether another process has locked the catalog, so that a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/** The error for a catalog of a newer version: a downgrade is not possible. */
export function newerCatalog(found: number, supported: number): Error {
  return new Error(
    `The catalog was created by a newer version of Ordinate (its schema version is ${found}, this version supports ${supported}). Install that version again.`,
  );
}

/** The error for a catalog of a version that is too old. @param oldest the first version that can be taken */
export function olderCatalog(found: number, oldest: number): Error {
  return new Error(
    `The catalog was created by a version of Ordinate before 0.2 (its schema version is ${found}, this version takes ${oldest} and later). Install version 0.2, run 'ordinate upgrade' with it, and then install this version again.`,
  );
}
