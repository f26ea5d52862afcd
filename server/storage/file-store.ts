/** An immutable file as it was written. `file` is its name in the store, with slashes. */
export interface StoredFile {
  readonly file: string;
  readonly bytes: number;
  /** Hexadecimal; empty for lists that an older version stored. */
  readonly sha256: string;
}

/** A file in a folder of the store. */
export interface ListedFile {
  readonly file: string;
  /** Milliseconds, as `Date.now`. */
  readonly modifiedAt: number;
}

/**
 * Immutable files by name. A file is written once under a name of its own, made durable, and read until it is removed;
 * nothing is ever changed in place.
 */
export interface FileStore {
  /** Where DuckDB reads a file, or writes it after `prepare`. */
  path(file: string): string;
  /** Makes room for a new file; returns where to write it. Then `seal` it. */
  prepare(file: string): string;
  /** Bytes `start` to `end` of a file, both included. What cannot be read ends them with an error. */
  read(file: string, span: { readonly start: number; readonly end: number }): AsyncIterable<Buffer>;
  /** Makes the content of a written file durable, and returns its size and hash. Its name is durable after `syncFolders`. */
  seal(file: string): Promise<StoredFile>;
  /** Makes the names of sealed files durable, so that they survive a power cut. */
  syncFolders(): Promise<void>;
  /** Removes a file, where it is there. */
  remove(file: string): Promise<void>;
  /** All files below a folder, in no order; none where there is no folder. */
  list(folder: string): Promise<ListedFile[]>;
  /** Bytes of a file; undefined when it is missing. Costs a few microseconds. */
  sizeOf(file: string): number | undefined;
  /** What is wrong with a file, in words; undefined when it is what was written. Reads all of it. */
  damageOf(file: StoredFile): Promise<string | undefined>;
  /** Changes when a file is written to or replaced; undefined when it is missing. Costs a few microseconds. */
  stampOf(file: string): string | undefined;
}
