/** An immutable file. `file` is its name in the store, with slashes. */
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
 * Immutable files by name. A file is written once under a unique name, made durable, and never changed.
 */
export interface FileStore {
  /** The path for DuckDB to read a file, or to write it after `prepare`. */
  path(file: string): string;
  /** Creates the folder of a new file and returns its path. Call `seal` after writing it. */
  prepare(file: string): string;
  /** Bytes `start` to `end` (inclusive) of a file. Read errors end the sequence. */
  read(file: string, span: { readonly start: number; readonly end: number }): AsyncIterable<Buffer>;
  /** Makes the content of a file durable; returns its size and hash. Its name becomes durable with `syncFolders`. */
  seal(file: string): Promise<StoredFile>;
  /** Makes the names of sealed files durable. */
  syncFolders(): Promise<void>;
  /** Removes a file, if it exists. */
  remove(file: string): Promise<void>;
  /** All files below a folder, unordered; none if it does not exist. */
  list(folder: string): Promise<ListedFile[]>;
  /** Bytes of a file; undefined if it is missing. Takes a few microseconds. */
  sizeOf(file: string): number | undefined;
  /** Describes the damage of a file; undefined if it is intact. Reads the whole file. */
  damageOf(file: StoredFile): Promise<string | undefined>;
  /** A stamp that changes with the file; undefined if it is missing. Takes a few microseconds. */
  stampOf(file: string): string | undefined;
}
