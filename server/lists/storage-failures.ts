/** Errors of the file system that are not the fault of what was read or written. */
const CODES = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'EIO', 'ENOTDIR'];
/** SQLite: busy, read-only, input or output failed, full, cannot be opened. */
const SQLITE_CODES = [5, 8, 10, 13, 14];

/** Whether a file could not be read or written because of the disk, its rights or the number of open files. */
export function isStorageFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (typeof code === 'string' && CODES.includes(code)) return true;
  if (typeof errcode === 'number') return SQLITE_CODES.includes(errcode & 0xff);
  return /^IO Error/.test(error.message);
}
