import { KnownError } from '../../domain/errors.ts';
import { measure, secondsSince } from '../../runtime/measurements.ts';
import type { TakeColumns, TextRow } from '../facts.ts';
import { type DistantLists, type FactsRead, type FactsReader, UnreadableHere } from '../reader.ts';
import type { TrinoClient } from './client.ts';
import { FilesInTrino } from './files.ts';
import { trinoStatement } from './statement.ts';
import { tableOfFile } from './tables.ts';

/** Max files of a statement. Trino takes statements of a million characters. */
const FILES_PER_STATEMENT = 2000;

type Row = readonly unknown[];
type TakeRows = (rows: readonly Row[], columns: readonly string[]) => void | Promise<void>;

/** Runs statements over stored files in Trino. Throws `DamagedFile` for a file that Trino does not find as it was written. */
export class TrinoReader implements FactsReader {
  readonly maxFiles = FILES_PER_STATEMENT;
  readonly #client: TrinoClient;
  readonly #files: FilesInTrino;

  /** @param addressOf the address of a file by its name, as Trino reads it */
  constructor(client: TrinoClient, addressOf: (file: string) => string) {
    this.#client = client;
    this.#files = new FilesInTrino(addressOf);
  }

  /** Passes the rows of `sql/NAME.sql` to `take`, a few at a time. */
  async pages(name: string, read: FactsRead, take: TakeRows): Promise<void> {
    const stopping = new AbortController();
    const stoppable = { ...read, signal: AbortSignal.any([read.signal, stopping.signal]) };
    try {
      // In parallel, because planning a statement takes longer than reading.
      await Promise.all([this.#check(stoppable), this.#run(name, stoppable, take)]);
    } finally {
      stopping.abort();
    }
  }

  async rows<Row>(name: string, read: FactsRead): Promise<Row[]> {
    const all: Row[] = [];
    const numbered = numbering(read);
    await this.pages(name, read, async (rows, columns) => {
      for (const row of (await numbered(rows, columns)).map(exact)) {
        all.push(Object.fromEntries(columns.map((column, index) => [column, row[index]])) as Row);
      }
    });
    return all;
  }

  /** Trino's files are elsewhere. */
  async check(): Promise<void> {}

  async numbers(name: string, read: FactsRead, take: TakeColumns): Promise<void> {
    const numbered = numbering(read);
    await this.pages(name, read, async (found, columns) => {
      const rows = await numbered(found, columns);
      const column = (index: number): Float64Array => Float64Array.from(rows, (row) => row[index] as number);
      take(
        columns.map((_, index) => column(index)),
        rows.length,
      );
    });
  }

  /** Passes the rows of a list to `add`, some at a time. */
  listRows: DistantLists['rows'] = (name, read, add) =>
    this.pages(name, read, (rows) => add((rows as readonly TextRow[]).map(exact)));

  async #run(name: string, { files, signal, values, fills }: FactsRead, take: TakeRows): Promise<void> {
    const table = tableOfFile(files[0]!.file);
    const statement = trinoStatement(name, table, { ...values, ...this.#files.of(files) }, fills);
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

  async #check({ files, signal }: FactsRead): Promise<void> {
    const unchecked = this.#files.unchecked(files);
    if (unchecked.length === 0) return;
    const found = new Map<string, number>();
    await this.#run('trino/files', { files: unchecked, signal }, (rows) => {
      for (const [path, bytes] of rows as [string, number][]) found.set(path, bytes);
    });
    this.#files.check(unchecked, found);
  }
}

/** Replaces the texts in the column `page` by their numbers, if a read asks for them. */
function numbering({ pageNumbers, signal }: FactsRead) {
  const known = new Map<unknown, number>();
  return async (rows: readonly Row[], columns: readonly string[]): Promise<readonly Row[]> => {
    if (pageNumbers === undefined) return rows;
    const page = columns.indexOf('page');
    const texts = new Set(rows.map((row) => row[page] as string));
    const unknown = [...texts].filter((text) => !known.has(text));
    const found = unknown.length > 0 ? await pageNumbers(unknown, signal) : [];
    for (const [index, text] of unknown.entries()) known.set(text, found[index]!);
    return rows.map((row) => row.with(page, known.get(row[page])));
  };
}

/** Returns the row. Throws if a number is too large to be exact. */
function exact<Row extends readonly unknown[]>(row: Row): Row {
  for (const value of row) {
    if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw new RangeError(`${value} is too large to be exact`);
    }
  }
  return row;
}

function outcomeOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted';
  if (error instanceof UnreadableHere) return 'unreadable';
  return error instanceof KnownError ? 'unavailable' : 'failed';
}
