import type { StoredFile } from '../file-store.ts';
import type { Content } from '../local-files.ts';

/** Immutable files by name in an object store. Its failures are `StorageAway`. */
export interface RemoteFiles {
  /** The address of a file, for messages. */
  addressOf(file: string): string;
  /** Stores a local file. It appears under its name completely or not at all. */
  put(file: StoredFile, source: string): Promise<void>;
  /** Writes a file to a local path, and says what was written; undefined if it is missing. */
  get(file: StoredFile, target: string): Promise<Content | undefined>;
  /** What the store says about a file, with an empty hash where it knows none; undefined if it is missing. */
  stat(file: string): Promise<Content | undefined>;
  /** Removes a file, if it exists, and what interrupted calls of `put` have left of it. */
  remove(file: string): Promise<void>;
  close(): void;
}

/** The object store does not answer, or refuses to. A retry a minute later may succeed. */
export class StorageAway extends Error {
  readonly code = 'ESTORAGEAWAY';

  constructor(address: string, reason: string) {
    super(`The object store does not give or take '${address}': ${reason}.`);
    this.name = 'StorageAway';
  }
}
