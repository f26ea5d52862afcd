import { CatalogFailure } from '../catalog/failures.ts';

/** Explains a full disk or lack of memory of this machine. Other errors are returned unchanged. */
export function describeFailure(error: unknown, dataFolder: string): unknown {
  // From the database server.
  if (error instanceof CatalogFailure && error.resource !== undefined) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (/no space left|disk is full|ENOSPC|disk quota|EDQUOT|file too large|EFBIG/i.test(message)) {
    return new Error(
      `The disk that holds '${dataFolder}' is full, so nothing was loaded; what was being served is untouched. Free some space and load again.`,
      { cause: error },
    );
  }
  if (/out of memory/i.test(message)) {
    return new Error(
      `DuckDB ran out of its memory limit, so nothing was loaded. Raise ORDINATE_MEMORY_LIMIT and load again. (${firstLine(message)})`,
      { cause: error },
    );
  }
  return error;
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
