import { classifyFailure } from '../domain/failures.ts';

/**
 * Whether an error is caused by the disk, permissions or the number of open files, including unspecific IO errors of DuckDB.
 */
export function isStorageFailure(error: unknown): boolean {
  const failure = classifyFailure(error);
  if (failure !== undefined) return failure !== 'out-of-memory';
  return (
    error instanceof Error && ((error as { code?: unknown }).code === 'ENOTDIR' || /^IO Error/.test(error.message))
  );
}
