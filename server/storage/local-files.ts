import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import type { ListedFile, Span, StoredFile } from './file-store.ts';

/** Bytes that are read at a time. */
const CHUNK = 262_144;
/** Files that are compared at a time. Each is open, and some systems give a process a few hundred open files only. */
export const COMPARED_AT_ONCE = 16;

/** Immutable files in a folder of this machine. Names are relative paths. */
export class LocalFiles {
  readonly #dataFolder: string;
  /** Folders with new names that are not durable yet. */
  readonly #unsynced = new Set<string>();
  /** One call at a time: the one before may be making names durable that the next is about. */
  readonly #alone = pLimit(1);
  readonly #comparing = pLimit(COMPARED_AT_ONCE);

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  path(file: string): string {
    return join(this.#dataFolder, file);
  }

  /** Creates the folder of a new file and returns its path. Call `seal` after writing it. */
  prepare(file: string): string {
    const target = this.path(file);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    return target;
  }

  /** Bytes of a file. Read errors end the sequence. */
  read(file: string, { start, end }: Span): AsyncIterable<Buffer> {
    // An empty file has no last byte.
    if (end < start) return Readable.from([]);
    return createReadStream(this.path(file), { start, end, highWaterMark: CHUNK });
  }

  /** Makes the content of a file durable; returns its size and hash. Its name becomes durable with `syncFolders`. */
  async seal(file: string): Promise<StoredFile> {
    await using handle = await open(this.path(file));
    await handle.chmod(0o600);
    await handle.sync();
    this.#nameChanged(file);
    return { file, ...(await contentOf(handle)) };
  }

  /** Makes the names of sealed files durable. */
  syncFolders(): Promise<void> {
    return this.#alone(() => this.#syncChanged());
  }

  async #syncChanged(): Promise<void> {
    const folders = [...this.#unsynced];
    this.#unsynced.clear();
    // Together: a disk makes them durable in one turn.
    const results = await Promise.allSettled(folders.map(sync));
    const failures = results.flatMap((result, index) =>
      result.status === 'rejected' ? [{ folder: folders[index]!, error: result.reason as NodeJS.ErrnoException }] : [],
    );
    // The next call tries them again, unless they are gone.
    for (const { folder, error } of failures) if (error.code !== 'ENOENT') this.#unsynced.add(folder);
    if (failures.length > 0) throw failures[0]!.error;
  }

  /** Removes a file, if it exists. */
  async remove(file: string): Promise<void> {
    await rm(this.path(file), { force: true });
  }

  /** Renames a file or folder durably. */
  async rename(from: string, to: string): Promise<void> {
    await rename(this.path(from), this.prepare(to));
    await sync(dirname(this.path(to)));
  }

  /** Renames a file, replacing another one. The new name becomes durable with `syncFolders`. */
  async move(from: string, to: string): Promise<void> {
    await rename(this.path(from), this.prepare(to));
    this.#nameChanged(to);
  }

  /** Removes a file, if it exists, and the folders that it leaves empty. Durable with `syncFolders`. */
  async removeWithFolders(file: string): Promise<void> {
    await this.remove(file);
    let folder = dirname(this.path(file));
    while (folder !== this.#dataFolder && (await removeIfEmpty(folder))) {
      this.#unsynced.delete(folder);
      folder = dirname(folder);
    }
    this.#unsynced.add(folder);
  }

  /** The names in a folder, sorted; none if it does not exist. */
  async names(folder: string): Promise<string[]> {
    const names = await readdir(this.path(folder)).catch(ifMissing<string[]>([]));
    return names.sort((a, b) => (a < b ? -1 : 1));
  }

  /** All files below a folder, unordered; none if it does not exist. */
  async list(folder: string): Promise<ListedFile[]> {
    const entries = await readdir(this.path(folder), { recursive: true, withFileTypes: true }).catch(ifMissing([]));
    const files: ListedFile[] = [];
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const found = await stat(path).catch(ifMissing(undefined));
      if (found === undefined) continue;
      const file = relative(this.#dataFolder, path).replaceAll('\\', '/');
      files.push({ file, modifiedAt: found.mtimeMs });
    }
    return files;
  }

  /** Bytes of a file; undefined if it is missing. Takes a few microseconds. */
  sizeOf(file: string): number | undefined {
    return statSync(this.path(file), { throwIfNoEntry: false })?.size;
  }

  /** Describes the damage of a file; undefined if it is intact. Reads the whole file. */
  async damageOf({ file, bytes, sha256 }: StoredFile): Promise<string | undefined> {
    const size = this.sizeOf(file);
    if (size === undefined) return 'it is missing';
    if (size !== bytes || sha256 === '') return differenceOf({ bytes: size, sha256 }, { bytes, sha256 });
    const found = await this.#comparing(() => measure(this.path(file), size)).catch(ifMissing(undefined));
    return found === undefined ? 'it is missing' : differenceOf(found, { bytes, sha256 });
  }

  /** A stamp that changes with the file; undefined if it is missing. Takes a few microseconds. */
  stampOf(file: string): string | undefined {
    const found = statSync(this.path(file), { throwIfNoEntry: false });
    return found && `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`;
  }

  /** All folders from the one with a new name up to the root. */
  #nameChanged(file: string): void {
    this.#unsynced.add(this.#dataFolder);
    let folder = dirname(this.path(file));
    for (; folder !== this.#dataFolder; folder = dirname(folder)) this.#unsynced.add(folder);
  }
}

/** False if the folder has entries. */
async function removeIfEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    if (code === 'ENOENT') return true;
    throw error;
  }
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): Promise<void> {
  return sync(path);
}

/** Makes a file, or the names in a folder, durable. */
async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** Size and hash of a file. */
export type Content = Pick<StoredFile, 'bytes' | 'sha256'>;

/** Describes how content differs from the expected one. Without a hash, only sizes are compared. */
export function differenceOf(found: Content, { bytes, sha256 }: Content): string | undefined {
  if (found.bytes !== bytes) return `it has ${found.bytes} bytes instead of ${bytes}`;
  if (sha256 !== '' && found.sha256 !== sha256) return `its SHA-256 is ${found.sha256} instead of ${sha256}`;
  return undefined;
}

/** Size and SHA-256 of a file, in one pass, or of its first `most` bytes. */
export async function measure(path: string, most = Number.POSITIVE_INFINITY): Promise<Content> {
  await using handle = await open(path);
  return await contentOf(handle, most);
}

async function contentOf(handle: FileHandle, most = Number.POSITIVE_INFINITY): Promise<Content> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK, most));
  let bytes = 0;
  while (bytes < most) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, bytes);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Replaces the error for a missing file with a value. */
export function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return value;
    throw error;
  };
}

/** Changes with the content of a file, but not with its links. */
export function stampOf(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${size} ${mtimeMs} ${ino}`;
}
