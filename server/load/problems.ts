/** Something about a snapshot that rejects the whole load. */
export interface Problem {
  readonly table: string | null;
  readonly column: string | null;
  /** A sentence that says what is wrong and what would be right. */
  readonly message: string;
  /** The first offending rows. */
  readonly rows: readonly unknown[];
}

/** The load was refused; what was being served is untouched. */
export class LoadRejected extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(sentence).join('\n'));
    this.problems = problems;
  }
}

/** One problem as text, with its first rows below it. */
export function sentence({ table, column, message, rows }: Problem): string {
  const place = [table, column].filter((name) => name !== null).join('.');
  const shown = rows.map((row) => `\n    ${JSON.stringify(row)}`).join('');
  return `${place === '' ? '' : `${place}: `}${message}${shown}`;
}

/** `1 row`, `3 rows`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

/** A failure of the machine and not of the snapshot, told in words. Unknown failures come back as they are. */
export function describeFailure(error: unknown, dataFolder: string): unknown {
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
