import type { ListedObject, StoredFile } from '../file-store.ts';
import { type Content, differenceOf } from '../local-files.ts';

/** Immutable files by name in an object store. Its failures are `StorageAway`. */
export interface RemoteFiles {
  /** The address of a file, for messages. */
  addressOf(file: string): string;
  /** Stores a local file. It appears under its name completely or not at all. */
  put(file: StoredFile, source: string): Promise<void>;
  /** Downloads a file; returns its size and hash, or undefined if it is missing. */
  get(file: StoredFile, target: string): Promise<Content | undefined>;
  /** Size and hash of a file, as the store reports them; '' for an unknown hash, undefined if missing. */
  stat(file: string): Promise<Content | undefined>;
  /** All files, as many at a time as the store gives. */
  list(): AsyncGenerator<readonly ListedObject[]>;
  /** The content of a small file; undefined if it is missing. */
  readText(file: string): Promise<string | undefined>;
  /** Stores a small file. False, without storing, if `isNew` and it exists; not every store can tell. */
  writeText(file: string, text: string, isNew: boolean): Promise<boolean>;
  /** Removes a file, if it exists, and what interrupted calls of `put` have left of it. */
  remove(file: string): Promise<void>;
  close(): void;
}

/** Describes the damage of a file that the store reports; undefined if it is intact. */
export async function remoteDamageOf(
  remote: Pick<RemoteFiles, 'stat'>,
  stored: StoredFile,
): Promise<string | undefined> {
  const found = await remote.stat(stored.file);
  if (found === undefined) return 'it is missing';
  // A store without checksums can only be compared by reading.
  return differenceOf(found, found.sha256 === '' ? { ...stored, sha256: '' } : stored);
}

/** The object store does not answer, or refuses to. A retry a minute later may succeed. */
export class StorageAway extends Error {
  readonly code = 'ESTORAGEAWAY';
  /** Whether the credentials lack the right. */
  readonly isDenied: boolean;

  constructor(address: string, reason: string, isDenied = false) {
    super(`The object store does not give or take '${address}': ${reason}.`);
    this.name = 'StorageAway';
    this.isDenied = isDenied;
  }
}
