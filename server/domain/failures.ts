/**
 * Failures of the machine. Neither the request nor the data is wrong, and a retry a minute later may succeed.
 * - `disk-full`: no space, no inodes or no quota left;
 * - `too-many-files`: no file descriptors left;
 * - `cannot-open`: a file cannot be opened: SQLite does not say why, and most often there are no descriptors left; or its
 *   folder was removed while the service ran;
 * - `read-only`: a folder or file cannot be written, or read, by this process;
 * - `disk-error`: the storage fails;
 * - `out-of-memory`: DuckDB's memory limit is reached and it cannot spill more to disk;
 * - `storage-away`: the object store of facts and lists does not respond, or denies access;
 * - `busy`: another process locks the catalog for longer than the timeout;
 * - `database-unreachable`: the catalog is in a database that cannot be reached.
 */
export type ResourceFailure = (typeof RESOURCE_FAILURES)[number];

export const RESOURCE_FAILURES = [
  'disk-full',
  'too-many-files',
  'cannot-open',
  'read-only',
  'disk-error',
  'out-of-memory',
  'storage-away',
  'busy',
  'database-unreachable',
] as const;

/** Codes of Node and of the operating system. */
const BY_CODE: Readonly<Record<string, ResourceFailure>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full',
  EMFILE: 'too-many-files',
  ENFILE: 'too-many-files',
  EROFS: 'read-only',
  EACCES: 'read-only',
  EPERM: 'read-only',
  EIO: 'disk-error',
  ESTORAGEAWAY: 'storage-away',
};

/** Result codes of SQLite, https://www.sqlite.org/rescode.html. */
const BY_SQLITE_CODE: Readonly<Record<number, ResourceFailure>> = {
  5: 'busy',
  6: 'busy',
  7: 'out-of-memory',
  8: 'read-only',
  10: 'disk-error',
  13: 'disk-full',
  14: 'cannot-open',
  // The index of the log cannot grow.
  4874: 'disk-full',
};

/** DuckDB has no codes: its message has the system's error text at the end of the first line. */
const BY_DUCKDB_MESSAGE: readonly (readonly [RegExp, ResourceFailure])[] = [
  [/^Out of Memory Error/, 'out-of-memory'],
  [/^IO Error: .*: (?:No space left on device|Disk quota exceeded|File too large)$/m, 'disk-full'],
  // Only in folders that are recreated: a missing fact file stays missing.
  [
    /^IO Error: (?:Cannot open file|No files found).* ".*\/(?:cache\/processes|temporary)\/[^"]*"(?:: No such file or directory)?$/m,
    'cannot-open',
  ],
  [/^IO Error: .*: Too many open files(?: in system)?$/m, 'too-many-files'],
  [/^IO Error: .*: (?:Read-only file system|Permission denied|Operation not permitted)$/m, 'read-only'],
  [/^IO Error: .*: Input\/output error$/m, 'disk-error'],
];

/** The failure of the machine behind an error of Node, SQLite or DuckDB; undefined for other errors. */
export function classifyFailure(error: unknown): ResourceFailure | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const {
      code = '',
      errcode,
      resource,
    } = cause as {
      code?: string;
      errcode?: number;
      resource?: ResourceFailure;
    };
    // The catalog has already classified it.
    if (resource !== undefined) return resource;
    const byCode = errcode === undefined ? BY_CODE[code] : (BY_SQLITE_CODE[errcode] ?? BY_SQLITE_CODE[errcode & 0xff]);
    const found = byCode ?? BY_DUCKDB_MESSAGE.find(([pattern]) => pattern.test((cause as Error).message))?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}
