import { CatalogFailure } from '../catalog/failures.ts';

/** A problem in a snapshot that rejects the whole load. */
export interface Problem {
  readonly table: string | null;
  readonly column: string | null;
  /** Describes what is wrong and what is expected. */
  readonly message: string;
  /** The first affected rows. */
  readonly rows: readonly unknown[];
}

/** The load was rejected; the served data is unchanged. */
export class LoadRejected extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(sentence).join('\n'));
    this.problems = problems;
  }
}

/** A problem as text, followed by its first rows. */
export function sentence({ table, column, message, rows }: Problem): string {
  const location = [table, column].filter((name) => name !== null).join('.');
  const shown = rows.map((row) => `\n    ${JSON.stringify(row)}`).join('');
  return `${location === '' ? '' : `${location}: `}${message}${shown}`;
}

/** `1 row`, `3 rows`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

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
