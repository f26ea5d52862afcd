import type { MarkPlace } from './store-mark.ts';

/** An immutable file. `file` is its name in the store, with slashes. */
export interface StoredFile {
  readonly file: string;
  readonly bytes: number;
  /** Hexadecimal; empty for lists that an older version stored. */
  readonly sha256: string;
}

/** A file in a folder. */
export interface ListedFile {
  readonly file: string;
  /** Milliseconds, as `Date.now`. */
  readonly modifiedAt: number;
}

/** A file that an object store lists. `tag` changes whenever the content is replaced. */
export interface ListedObject extends Pick<StoredFile, 'file' | 'bytes'> {
  readonly tag: string;
}

/** Bytes of a file, both included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Files that are held on this machine until this is disposed. */
export interface OpenFiles extends Disposable {
  /** In the order of the files that were opened. */
  readonly paths: readonly string[];
}

/**
 * Immutable files by name, of facts and lists. A file is written once under a unique name, made durable, and never
 * changed. Where files are kept elsewhere, they are fetched to be read.
 */
export interface FileStore extends AsyncDisposable {
  /**
   * Opens files, each compared with its size and hash. Throws `DamagedFile` for the first damaged one. Dispose
   * of the result when nothing reads the paths any more.
   */
  open(files: readonly StoredFile[]): Promise<OpenFiles>;
  /** Bytes of a file. Failures end the sequence. */
  read(file: StoredFile, span: Span): AsyncIterable<Buffer>;
  /** Copies a file to a local path. The copy is not compared. Rejects with `ENOENT` if the file is missing. */
  copy(file: StoredFile, target: string): Promise<void>;
  /** False if a file is known to be missing or to have another size. Takes a few microseconds. */
  mayHave(file: StoredFile): boolean;
  /** Throws if a file cannot be read at the moment. */
  reach(file: string): Promise<void>;
  /** The path at which to write a new file. Call `seal` after writing it. */
  prepare(file: string): string;
  /** Makes the content of a new file durable; returns its size and hash. Its name becomes durable with `syncFolders`. */
  seal(file: string): Promise<StoredFile>;
  /** Makes the names of sealed files durable. */
  syncFolders(): Promise<void>;
  /** Removes a file, if it exists, whether it was sealed or not. */
  remove(file: string): Promise<void>;
  /**
   * Describes the damage of a file; undefined if it is intact. Reads the whole file, unless an object store has a checksum
   * of it.
   * @param options `deep`: reads the file in any case; `soon`: it will be opened next, so that it may be fetched for both
   */
  damageOf(
    file: StoredFile,
    options?: { readonly deep?: boolean; readonly soon?: boolean },
  ): Promise<string | undefined>;
  /** Lists an object store, many files with a request; undefined where reading a file costs no request. */
  readonly listObjects?: (() => AsyncIterable<readonly ListedObject[]>) | undefined;
  /** The path or address of a file, for messages. */
  addressOf(file: string): string;
  /** Says which store it is. */
  readonly mark: MarkPlace;
  /** The folder of the files, where they are in one. Other stores cannot be listed and have no trash. */
  readonly folder: FileFolder | undefined;
}

/** A store that is a folder: its files can be listed, and kept for a while before they are removed. */
export interface FileFolder {
  /** All files below a folder, unordered; none if it does not exist. */
  list(folder: string): Promise<ListedFile[]>;
  /** The names of all fact files, current or not. */
  factFiles(): Promise<string[]>;
  /** Moves files to the trash, where they stay for a week. */
  moveToTrash(files: readonly string[], now: number): Promise<void>;
  /** Removes files that have been in the trash for more than a week. */
  emptyTrash(now: number): Promise<void>;
  /** When `touch` was last called for a mark, in milliseconds; 0 for never. */
  touchedAt(mark: string): Promise<number>;
  touch(mark: string, now: number): Promise<void>;
}
