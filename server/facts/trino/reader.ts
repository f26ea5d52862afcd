import { KnownError } from '../../domain/errors.ts';
import { measure, secondsSince } from '../../runtime/measurements.ts';
import type { StoredFile } from '../../storage/file-store.ts';
import type { TakeColumns } from '../facts.ts';
import type { TrinoClient } from './client.ts';
import { UnreadableByTrino } from './failures.ts';
import { FilesInTrino } from './files.ts';
import { type TrinoValues, trinoStatement } from './statement.ts';
import { tableOfFile } from './tables.ts';

/** What a statement reads: files of one table. */
export interface TrinoRead {
  /** At least one. */
  readonly files: readonly StoredFile[];
  readonly signal: AbortSignal;
  /** The values of the statement, without those of the files. */
  readonly values?: TrinoValues;
  /** See `sqlTemplate`; `table` is that of the files. */
  readonly parts?: Readonly<Record<string, string>>;
}

type Row = readonly unknown[];
type TakeRows = (rows: readonly Row[], columns: readonly string[]) => void | Promise<void>;

/** Runs statements over stored files in Trino. Throws `DamagedFile` for a file that Trino does not find as it was written. */
export class TrinoReader {
  readonly #client: TrinoClient;
  readonly #files: FilesInTrino;

  /** @param addressOf the address of a file by its name, as Trino reads it */
  constructor(client: TrinoClient, addressOf: (file: string) => string) {
    this.#client = client;
    this.#files = new FilesInTrino(addressOf);
  }

  /** Passes the rows of `sql/trino/NAME.sql` to `take`, a few at a time. */
  async pages(name: string, read: TrinoRead, take: TakeRows): Promise<void> {
    const stopping = new AbortController();
    const own = { ...read, signal: AbortSignal.any([read.signal, stopping.signal]) };
    try {
      // Both at once: a statement takes longer to plan than to read.
      await Promise.all([this.#check(own), this.#run(name, own, take)]);
    } finally {
      stopping.abort();
    }
  }

  /** All rows, as objects. Numbers too large to be exact are an error. */
  async rows<Row>(name: string, read: TrinoRead): Promise<Row[]> {
    const all: Row[] = [];
    await this.pages(name, read, (rows, columns) => {
      for (const row of rows.map(exact)) {
        all.push(Object.fromEntries(columns.map((column, index) => [column, row[index]])) as Row);
      }
    });
    return all;
  }

  /** Passes columns to `take`. All of them must be numbers. */
  numbers(name: string, read: TrinoRead, take: TakeColumns): Promise<void> {
    return this.pages(name, read, (rows, columns) =>
      take(
        columns.map((_, index) => Float64Array.from(rows, (row) => row[index] as number)),
        rows.length,
      ),
    );
  }

  async #run(name: string, { files, signal, values, parts }: TrinoRead, take: TakeRows): Promise<void> {
    const table = tableOfFile(files[0]!.file);
    const statement = trinoStatement(name, { ...values, ...this.#files.of(files) }, { table, ...parts });
    const started = performance.now();
    const ended = (outcome: string): void => measure('trinoQuery', () => ({ outcome, seconds: secondsSince(started) }));
    try {
      for await (const { rows, columns } of this.#client.pages(statement, signal)) await take(rows, columns);
      ended('ok');
    } catch (error) {
      ended(outcomeOf(error, signal));
      throw error;
    }
  }

  async #check({ files, signal }: TrinoRead): Promise<void> {
    const unchecked = this.#files.unchecked(files);
    if (unchecked.length === 0) return;
    const found = new Map<string, number>();
    await this.#run('files', { files: unchecked, signal }, (rows) => {
      for (const [path, bytes] of rows as [string, number][]) found.set(path, bytes);
    });
    this.#files.check(unchecked, found);
  }
}

/** The same row. Throws if a number is too large to be exact. */
export function exact<Row extends readonly unknown[]>(row: Row): Row {
  for (const value of row) {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw new RangeError(`${value} is too large to be exact`);
    }
  }
  return row;
}

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  if (error instanceof UnreadableByTrino) return 'unreadable';
  return error instanceof KnownError ? 'unavailable' : 'failed';
}
