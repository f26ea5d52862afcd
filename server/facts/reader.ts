import type { StoredFile } from '../storage/file-store.ts';
import type { Facts, TakeColumns, TextRow } from './facts.ts';

/** A value of a statement. Lists are texts. */
export type FactsValue = string | number | boolean | null | readonly string[];
export type FactsValues = Readonly<Record<string, FactsValue>>;

/** See `sqlTemplate`. DuckDB prepares each combination separately, so there may only be a few. */
export type Fills = Readonly<Record<string, string>>;

/** The input of a statement. */
export interface FactsRead {
  /** The files of one table, at least one; `$files` in the statement. */
  readonly files: readonly StoredFile[];
  readonly signal: AbortSignal;
  /** The other values of the statement. */
  readonly values?: FactsValues;
  readonly fills?: Fills;
  /** Set for statements with many rows, whose concurrency is limited: higher priorities leave the queue first. */
  readonly priority?: number;
  /** Whether files may be read one after the other, so that only the rows of one are in memory. */
  readonly isByFile?: boolean;
  /** Set to get the column `page` as numbers that stand for texts: engines other than DuckDB have the texts. */
  readonly pageNumbers?: Facts['pageNumbers'];
}

/** Runs statements of `sql/` over stored files in one engine. Throws `UnreadableHere` if only another one can. */
export interface FactsReader {
  /** Max files of a statement. */
  readonly maxFiles: number;

  /** All rows of `sql/NAME.sql`, as objects. Numbers too large to be exact are an error. */
  rows<Row>(name: string, read: FactsRead): Promise<Row[]>;

  /** Passes the columns of `sql/NAME.sql` to `take`. All of them are numbers. */
  numbers(name: string, read: FactsRead, take: TakeColumns): Promise<void>;

  /** Throws `DamagedFile` if a file on this machine is not as it was written. */
  check(files: readonly StoredFile[]): Promise<void>;
}

/** An engine cannot read files or run a statement, which DuckDB can. */
export class UnreadableHere extends Error {}

/** Reads the rows of lists with an engine outside of this process. */
export interface DistantLists {
  /** Whether it should read these files. */
  reads(files: readonly StoredFile[]): boolean;

  /** Passes the rows of `sql/NAME.sql` to `add`, some at a time. */
  rows(name: string, read: FactsRead, add: (rows: readonly TextRow[]) => Promise<void>): Promise<void>;
}
