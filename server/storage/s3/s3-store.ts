import { createReadStream } from 'node:fs';
import { chmod, copyFile, rm, stat } from 'node:fs/promises';
import { DamagedFile } from '../checked-files.ts';
import type { FileStore, ListedObject, OpenFiles, Span, StoredFile } from '../file-store.ts';
import { ifMissing, measure } from '../local-files.ts';
import { MARK_FILE, type MarkPlace } from '../store-mark.ts';
import type { FileCache } from './file-cache.ts';
import { type RemoteFiles, remoteDamageOf } from './remote-files.ts';

/** Files in an object store, read through a cache on this machine. */
export class S3Store implements FileStore {
  /** It cannot be listed; the catalog knows its files. */
  readonly folder = undefined;
  readonly mark: MarkPlace;
  readonly #remote: RemoteFiles;
  readonly #cache: FileCache;
  readonly #close: () => Promise<void>;

  constructor(remote: RemoteFiles, cache: FileCache, close: () => Promise<void>) {
    this.#remote = remote;
    this.mark = remoteMark(remote);
    this.#cache = cache;
    this.#close = close;
  }

  open(files: readonly StoredFile[]): Promise<OpenFiles> {
    return this.#cache.hold(files);
  }

  async *read(stored: StoredFile, { start, end }: Span): AsyncGenerator<Buffer> {
    // An empty file has no last byte.
    if (end < start) return;
    using opened = await this.open([stored]);
    yield* createReadStream(opened.paths[0]!, { start, end, highWaterMark: 262_144 }) as AsyncIterable<Buffer>;
  }

  async copy(stored: StoredFile, target: string): Promise<void> {
    using opened = await this.open([stored]);
    await copyFile(opened.paths[0]!, target);
  }

  /** Sends no request: a missing file is noticed when it is opened. */
  mayHave(): boolean {
    return true;
  }

  async reach(file: string): Promise<void> {
    await this.#cache.check();
    if ((await this.#remote.stat(file)) === undefined) throw new Error(`${this.addressOf(file)} is missing.`);
  }

  prepare(file: string): string {
    return this.#cache.newPath(file);
  }

  /** Stores the file remotely before it becomes part of the cache. */
  async seal(file: string): Promise<StoredFile> {
    const path = this.#cache.newPath(file);
    await chmod(path, 0o600);
    const stored = { file, ...(await measure(path)) };
    try {
      await this.#remote.put(stored, path);
    } catch (error) {
      // The upload may have succeeded; then `remove` removes it there.
      await rm(path, { force: true });
      throw error;
    }
    await this.#cache.adopt(stored, path);
    return stored;
  }

  async syncFolders(): Promise<void> {}

  async remove(file: string): Promise<void> {
    const path = this.#cache.newPath(file);
    const isNew = await stat(path).then(() => true, ifMissing(false));
    if (isNew) return rm(path, { force: true });
    await this.#remote.remove(file);
    this.#cache.drop(file);
  }

  listObjects(): AsyncIterable<readonly ListedObject[]> {
    return this.#remote.list();
  }

  async damageOf(stored: StoredFile, { deep = false, soon = false } = {}): Promise<string | undefined> {
    if (soon && !this.#cache.has(stored.file)) {
      try {
        // Compared when it is fetched, and kept for who opens it next.
        using _fetched = await this.open([stored]);
        return undefined;
      } catch (error) {
        if (!(error instanceof DamagedFile)) throw error;
        return error.damage;
      }
    }
    if (deep) return this.#cache.damageOfRemote(stored);
    return remoteDamageOf(this.#remote, stored);
  }

  addressOf(file: string): string {
    return this.#remote.addressOf(file);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** The mark of an object store. */
export function remoteMark(remote: Pick<RemoteFiles, 'readText' | 'writeText'>): MarkPlace {
  return {
    read: () => remote.readText(MARK_FILE),
    write: (text, { isNew }) => remote.writeText(MARK_FILE, text, isNew),
  };
}
