import type { StoredFile } from './file-store.ts';

/**
 * A store of backups: immutable files by name, with slashes. A folder today; an object store could implement it, too.
 * A file appears under its name completely or not at all.
 */
export interface BackupStore {
  /** The folder's path, for messages. */
  readonly address: string;
  /**
   * Copies a local file and makes the copy durable; its name becomes durable with `flush`. Replaces an existing file.
   * Throws `OtherContent`, and stores nothing, if the copy does not have the expected size and hash.
   */
  put(file: string, source: string, expected?: StoredFile): Promise<StoredFile>;
  /** Stores a text. Durable when it returns. */
  putText(file: string, text: string): Promise<void>;
  /** Stores a local file without copying it; false if that is not possible. */
  link(file: string, source: string): Promise<boolean>;
  /** Whether a stored file and a local one share their bytes. */
  isLinked(file: string, source: string): boolean;
  /** Makes the names of stored files, and the removal of others, durable. */
  flush(): Promise<void>;
  /** Copies a stored file to a local path. */
  get(file: string, target: string): Promise<void>;
  /** Undefined if it is missing. */
  getText(file: string): Promise<string | undefined>;
  /** The names of the files in a folder, sorted; none if it does not exist. */
  names(folder: string): Promise<string[]>;
  /** Bytes of a file; undefined if it is missing. */
  sizeOf(file: string): number | undefined;
  /** Describes the damage of a file; undefined if it is intact. Reads the whole file. */
  damageOf(file: StoredFile): Promise<string | undefined>;
  /** Removes a file, if it exists. */
  remove(file: string): Promise<void>;
  /** Removes what interrupted calls of `put` and `link` have left. Requires that no other process stores files. */
  removeUnfinished(): Promise<void>;
  /** Free bytes. */
  free(): Promise<number>;
}

/** The content of a file is not as expected. */
export class OtherContent extends Error {}
