import { classifyFailure } from '../domain/failures.ts';

/**
 * Whether a list could not be stored or read because of the disk, its rights or the number of open files; also where
 * DuckDB does not say which of them.
 */
export function isStorageFailure(error: unknown): boolean {
  const failure = classifyFailure(error);
  if (failure !== undefined) return failure !== 'out-of-memory';
  return (
    error instanceof Error && ((error as { code?: unknown }).code === 'ENOTDIR' || /^IO Error/.test(error.message))
  );
}
