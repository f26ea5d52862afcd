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
