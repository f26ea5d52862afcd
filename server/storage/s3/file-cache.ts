import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { classifyFailure } from '../../domain/failures.ts';
import { ProcessFolder } from '../../process-folder.ts';
import { DamagedFile } from '../checked-files.ts';
import type { OpenFiles, StoredFile } from '../file-store.ts';
import { type Content, differenceOf, ifMissing, measure } from '../local-files.ts';
import { CacheIndex } from './cache-index.ts';
import type { RemoteFiles } from './remote-files.ts';

/** Files fetched at a time. */
const FETCHES = 16;
/** About a hundred bytes each. */
const MAX_CHECKED = 100_000;
/** How often the files of the cache are compared with its index, in milliseconds: once a day. */
const LIST_EVERY = 86_400_000;
/** The use of a file is noted again after this time, in milliseconds. */
const NOTE_EVERY = 10_000;

export interface CacheOptions {
  readonly remote: RemoteFiles;
  readonly folder: string;
  /** Bytes of files that nothing reads. */
  readonly max: number;
  /** Milliseconds, as `Date.now`. */
  readonly now?: () => number;
}

/** A file that this process reads: a hard link of its own, so that no other process can take it away. */
interface Held {
  readonly path: string;
  readonly ready: Promise<void>;
  readers: number;
}

/**
 * Files of an object store on the disk of this machine, shared by its processes. What is read is held by a link in a
 * folder of the process, so that files can be dropped from the cache at any time; the folders of killed processes are
 * removed by the next one. A file is compared with its hash when it is fetched, and when a process first reads it.
 */
export class FileCache {
  readonly #options: CacheOptions;
  readonly #index: CacheIndex;
  readonly #own: ProcessFolder;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #limit = pLimit(FETCHES);
  /** By name: the stamp of a compared file, and when its use was noted. */
  readonly #checked = new LRUCache<string, { readonly stamp: string; notedAt: number }>({
    maxSize: MAX_CHECKED,
    sizeCalculation: () => 1,
  });
  #links = 0;

  private constructor(options: CacheOptions, index: CacheIndex, own: ProcessFolder) {
    this.#options = options;
    this.#index = index;
    this.#own = own;
    this.#now = options.now ?? Date.now;
  }

  static async open(options: CacheOptions): Promise<FileCache> {
    const { folder } = options;
    const index = CacheIndex.open(join(folder, 'index.sqlite'));
    try {
      mkdirSync(join(folder, 'files'), { recursive: true, mode: 0o700 });
      const own = await ProcessFolder.take(join(folder, 'processes'));
      const cache = new FileCache(options, index, own);
      await cache.#adoptStrays();
      return cache;
    } catch (error) {
      index.close();
      throw error;
    }
  }

  /** Bytes of the files that stay. */
  get bytes(): number {
    return this.#index.bytes;
  }

  /** A path in the folder of this process, for a file that is about to be written. */
  newPath(file: string): string {
    return join(this.#own.path, `new-${hashOf(file)}.parquet`);
  }

  /** Holds files, fetching those that are missing. Throws `DamagedFile` and `StorageAway`. */
  async hold(files: readonly StoredFile[]): Promise<OpenFiles> {
    const held = files.map((stored) => this.#reading(stored));
    const results = await Promise.allSettled(held.map(({ ready }) => ready));
    const release = (): void => {
      for (const [index, { file }] of files.entries()) this.#release(file, held[index]!);
    };
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      release();
      throw failed.reason;
    }
    let isOpen = true;
    return {
      paths: held.map(({ path }) => path),
      [Symbol.dispose]: () => {
        if (isOpen) release();
        isOpen = false;
      },
    };
  }

  /** Describes the damage of a file in the object store, which is read for this; undefined if it is intact. */
  async damageOfRemote(stored: StoredFile): Promise<string | undefined> {
    const path = join(this.#own.path, `compared-${this.#links++}`);
    try {
      const found = await this.#limit(() => this.#get(stored, path));
      return found === undefined ? 'it is missing' : differenceOf(found, stored);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Takes over a local file whose content is known. */
  async adopt(stored: StoredFile, path: string): Promise<void> {
    this.#place(stored, path);
    await rm(path, { force: true });
  }

  /** Drops a file from the cache. What reads it can go on. */
  drop(file: string): void {
    this.#checked.delete(file);
    this.#index.remove(hashOf(file), this.#remove);
  }

  async close(): Promise<void> {
    this.#index.close();
    await this.#own.remove();
  }

  #reading(stored: StoredFile): Held {
    let held = this.#held.get(stored.file);
    if (held === undefined) {
      const path = join(this.#own.path, `${hashOf(stored.file)}-${this.#links++}.parquet`);
      held = { path, ready: this.#bring(stored, path), readers: 0 };
      this.#held.set(stored.file, held);
    }
    held.readers++;
    return held;
  }

  #release(file: string, held: Held): void {
    held.readers--;
    if (held.readers > 0) return;
    // The next reader makes a link of its own.
    if (this.#held.get(file) === held) this.#held.delete(file);
    void rm(held.path, { force: true }).catch(() => {});
  }

  /** Links an intact file from the cache, or fetches it. */
  async #bring(stored: StoredFile, path: string): Promise<void> {
    if (this.#linkCached(stored.file, path)) {
      if (await this.#isIntact(stored, path)) return this.#noteUse(stored.file);
      await rm(path, { force: true });
    }
    await this.#limit(() => this.#fetch(stored, path));
  }

  /** Takes some microseconds; threads of the pool may be busy with queries. */
  #linkCached(file: string, path: string): boolean {
    try {
      linkSync(this.#pathOf(hashOf(file)), path);
      return true;
    } catch (error) {
      return ifMissing(false)(error);
    }
  }

  /** Drops a file that is not what was stored, such as one that a power cut has left. */
  async #isIntact(stored: StoredFile, path: string): Promise<boolean> {
    const stamp = stampOf(path);
    if (this.#checked.get(stored.file)?.stamp === stamp) return true;
    if (differenceOf(await measure(path), stored) !== undefined) {
      this.drop(stored.file);
      return false;
    }
    this.#checked.set(stored.file, { stamp, notedAt: 0 });
    return true;
  }

  /** Fetches a file to a path, where it stays if the cache has no room for it. */
  async #fetch(stored: StoredFile, path: string): Promise<void> {
    let damage: string | undefined;
    // A second time, because bytes may have changed on their way.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const found = await this.#get(stored, path);
      damage = found === undefined ? 'it is missing' : differenceOf(found, stored);
      if (damage === undefined) return this.#place(stored, path);
      await rm(path, { force: true });
      if (found === undefined) break;
    }
    throw new DamagedFile(this.#options.remote.addressOf(stored.file), stored.file, damage!);
  }

  /** If the disk is full, what nothing reads makes room. */
  async #get(stored: StoredFile, path: string): Promise<Content | undefined> {
    const { remote } = this.#options;
    try {
      return await remote.get(stored, path);
    } catch (error) {
      await rm(path, { force: true });
      if (classifyFailure(error) !== 'disk-full' || this.#index.bytes === 0) throw error;
      this.#index.shrink(0, this.#remove);
      return remote.get(stored, path);
    }
  }

  /** Puts a compared file into the cache, if it has room for it; `path` stays. */
  #place(stored: StoredFile, path: string): void {
    const name = hashOf(stored.file);
    const place = (): void => {
      const target = this.#pathOf(name);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      const link = join(this.#own.path, `place-${this.#links++}`);
      linkSync(path, link);
      renameSync(link, target);
      // Nothing happens if both are the same file.
      rmSync(link, { force: true });
    };
    const now = this.#now();
    this.#checked.set(stored.file, { stamp: stampOf(path), notedAt: now });
    try {
      this.#index.add({ name, bytes: stored.bytes }, { max: this.#options.max, now, place, remove: this.#remove });
    } catch (error) {
      // It can be read, and is fetched again the next time.
      if (classifyFailure(error) === undefined) throw error;
    }
  }

  #noteUse(file: string): void {
    const known = this.#checked.get(file);
    if (known === undefined || this.#now() - known.notedAt < NOTE_EVERY) return;
    known.notedAt = this.#now();
    try {
      this.#index.use(hashOf(file), known.notedAt);
    } catch (error) {
      // Then it counts as used before.
      if (classifyFailure(error) === undefined) throw error;
    }
  }

  /** Moves a file away, which is quick, and removes it later: freeing a large file would hold up requests. */
  readonly #remove = (name: string): void => {
    const away = join(this.#own.path, `removed-${this.#links++}`);
    try {
      renameSync(this.#pathOf(name), away);
    } catch (error) {
      ifMissing(undefined)(error);
    }
    void rm(away, { force: true }).catch(() => {});
  };

  /** Counts files that the index does not have, because it was lost or a process was killed. */
  async #adoptStrays(): Promise<void> {
    const { folder, max } = this.#options;
    if (this.#now() - this.#index.listedAt < LIST_EVERY) return;
    this.#index.listedAt = this.#now();
    for (const part of await readdir(join(folder, 'files'))) {
      for (const name of await readdir(join(folder, 'files', part))) {
        if (this.#index.has(name)) continue;
        const found = await stat(this.#pathOf(name)).catch(ifMissing(undefined));
        if (found === undefined) continue;
        this.#index.add(
          { name, bytes: found.size },
          { max, now: Math.floor(found.mtimeMs), place: () => {}, remove: this.#remove },
        );
      }
    }
  }

  #pathOf(name: string): string {
    return join(this.#options.folder, 'files', name.slice(0, 2), name);
  }
}

function hashOf(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 32);
}

/** Changes with the content of a file, but not with its links. */
function stampOf(path: string): string {
  const { size, mtimeMs, ino } = statSync(path);
  return `${size} ${mtimeMs} ${ino}`;
}
