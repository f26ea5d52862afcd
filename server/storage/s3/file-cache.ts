import { linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { classifyFailure } from '../../domain/failures.ts';
import { measure as noteMeasured } from '../../runtime/measurements.ts';
import { DamagedFile, MISSING } from '../checked-files.ts';
import type { OpenFiles, StoredFile } from '../file-store.ts';
import { COMPARED_AT_ONCE, type Content, differenceOf, ifMissing, measure, stampOf } from '../local-files.ts';
import { CacheFolder, hashOf } from './cache-folder.ts';
import { type Held, HeldLinks } from './held-links.ts';
import type { RemoteFiles } from './remote-files.ts';

/** Concurrent fetches. */
const FETCHES = 16;
/** About a hundred bytes each. */
const MAX_CHECKED = 100_000;
/** The use of a file is noted again after this time, in milliseconds. */
const NOTE_EVERY = 10_000;

export interface CacheOptions {
  readonly remote: RemoteFiles;
  readonly folder: string;
  /** A parent folder that is not recreated if somebody removes it; undefined for none. */
  readonly within?: string | undefined;
  /** Bytes of files that nothing reads. */
  readonly max: number;
  /** Milliseconds, as `Date.now`. */
  readonly now?: () => number;
}

/**
 * Files of an object store on the disk of this machine, shared by its processes. Open files are held by a link in a
 * folder of the process, so that files can be dropped from the cache at any time; the folders of killed processes are
 * removed by the next one. A file is compared with its hash when it is fetched, and when a process first reads it. If
 * somebody removes its folder, it is recreated at the next use.
 */
export class FileCache {
  readonly #options: CacheOptions;
  readonly #folder: CacheFolder;
  readonly #now: () => number;
  readonly #held: HeldLinks;
  /** Whether there may be files that the index lacks. */
  #mayLack = false;
  /** How often files made room on a full disk. */
  #shrunk = 0;
  readonly #limit = pLimit(FETCHES);
  readonly #comparing = pLimit(COMPARED_AT_ONCE);
  /** By name: the stamp of a compared file, and when its use was noted. */
  readonly #checked = new LRUCache<string, { readonly stamp: string; notedAt: number }>({
    maxSize: MAX_CHECKED,
    sizeCalculation: () => 1,
  });

  private constructor(options: CacheOptions, folder: CacheFolder) {
    this.#options = options;
    this.#folder = folder;
    this.#now = options.now ?? Date.now;
    this.#held = new HeldLinks(options.max);
  }

  static async open(options: CacheOptions): Promise<FileCache> {
    const folder = await CacheFolder.open(options.folder);
    try {
      const cache = new FileCache(options, folder);
      await cache.#adoptStrays();
      return cache;
    } catch (error) {
      await folder.close();
      throw error;
    }
  }

  /** Bytes of the cached files. */
  get bytes(): number {
    return this.#folder.index.bytes;
  }

  /** Whether a file is in the cache. */
  has(file: string): boolean {
    return this.#folder.index.has(hashOf(file));
  }

  /** A path in the folder of this process, for a file that is about to be written. */
  newPath(file: string): string {
    this.#makeAgain();
    return this.#folder.privatePath(`new-${hashOf(file)}.parquet`);
  }

  /** Throws if its folder was removed and cannot be recreated. */
  async check(): Promise<void> {
    this.#makeAgain();
    if (!this.#mayLack) return;
    await this.#adoptStrays();
    this.#mayLack = false;
  }

  /** Holds files, fetching those that are missing. Throws `DamagedFile`, `StorageAway` and what `check` throws. */
  hold(files: readonly StoredFile[]): Promise<OpenFiles> {
    // Retries if the folder is removed meanwhile.
    return this.#hold(files).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return this.#hold(files);
    });
  }

  async #hold(files: readonly StoredFile[]): Promise<OpenFiles> {
    await this.check();
    const held = files.map((stored) => this.#reading(stored));
    const results = await Promise.allSettled(held.map(({ ready }) => ready));
    const release = (): void => {
      for (const [index, stored] of files.entries()) {
        this.#held.release(stored, held[index]!, results[index]!.status === 'fulfilled');
      }
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
    this.#makeAgain();
    const path = this.#folder.newPrivatePath('compared');
    try {
      const found = await this.#limit(() => this.#get(stored, path));
      return found === undefined ? MISSING : differenceOf(found, stored);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Takes over a local file whose content is known. */
  async adopt(stored: StoredFile, path: string): Promise<void> {
    this.#link(stored, path);
    await rm(path, { force: true });
  }

  /** Drops a file from the cache; readers keep it. */
  drop(file: string): void {
    this.#makeAgain();
    this.#checked.delete(file);
    this.#held.drop(file);
    this.#folder.index.remove(hashOf(file), this.#folder.remove);
  }

  async close(): Promise<void> {
    await this.#folder.close();
  }

  #adoptStrays(): Promise<void> {
    return this.#folder.adoptStrays({ max: this.#options.max, now: this.#now() });
  }

  #makeAgain(): void {
    const made = this.#folder.makeAgain(this.#options.within);
    // Current readers continue; the next reader needs another link.
    if (made.folder) this.#held.clear();
    this.#mayLack ||= made.index;
  }

  #reading(stored: StoredFile): Held {
    const held = this.#held.find(stored.file, (path) => this.#isAsCompared(stored.file, path));
    if (held === undefined) {
      const path = this.#folder.newPrivatePath(hashOf(stored.file), '.parquet');
      return this.#held.add(stored.file, { path, ready: this.#bring(stored, path) });
    }
    // Others wait for the same fetch.
    if (held.readers === 1) this.#noteHit(stored.file);
    return held;
  }

  /** Links an intact file from the cache, or fetches it. */
  async #bring(stored: StoredFile, path: string): Promise<void> {
    const isLinked = this.#linkCached(stored.file, path);
    const isHit = isLinked && (await this.#isIntact(stored, path));
    if (isHit) return this.#noteHit(stored.file);
    noteMeasured('storageRead', () => ({ outcome: 'miss' }));
    if (isLinked) await rm(path, { force: true });
    await this.#limit(() => this.#fetch(stored, path));
  }

  /** Synchronous (microseconds): pool threads may be busy with queries. */
  #linkCached(file: string, path: string): boolean {
    try {
      linkSync(this.#folder.pathOf(hashOf(file)), path);
      return true;
    } catch (error) {
      return ifMissing(false)(error);
    }
  }

  /** Whether a file was compared, and nobody has written to it or removed it since. */
  #isAsCompared(file: string, path: string): boolean {
    try {
      return this.#checked.get(file)?.stamp === stampOf(path);
    } catch (error) {
      return ifMissing(false)(error);
    }
  }

  /** Checks a file, and drops a damaged one, such as after a power cut. */
  async #isIntact(stored: StoredFile, path: string): Promise<boolean> {
    const stamp = stampOf(path);
    if (this.#checked.get(stored.file)?.stamp === stamp) return true;
    if (differenceOf(await this.#comparing(() => measure(path)), stored) !== undefined) {
      this.drop(stored.file);
      return false;
    }
    this.#checked.set(stored.file, { stamp, notedAt: 0 });
    return true;
  }

  /** Fetches a file to a path, where it stays if the cache has no room for it. */
  async #fetch(stored: StoredFile, path: string): Promise<void> {
    let damage: string | undefined;
    // Twice, because the transfer may have changed bytes.
    for (let attempt = 1; attempt <= 2; attempt++) {
      const found = await this.#get(stored, path);
      damage = found === undefined ? MISSING : differenceOf(found, stored);
      if (damage === undefined) return this.#link(stored, path);
      await rm(path, { force: true });
      if (found === undefined) break;
    }
    throw new DamagedFile(this.#options.remote.addressOf(stored.file), stored.file, damage!);
  }

  /** On a full disk, drops files that nothing reads. */
  async #get(stored: StoredFile, path: string): Promise<Content | undefined> {
    const { remote } = this.#options;
    const before = this.#shrunk;
    try {
      return await remote.get(stored, path);
    } catch (error) {
      await rm(path, { force: true });
      if (classifyFailure(error) !== 'disk-full') throw error;
      const isFreed = (await this.#held.shrink()) || this.#folder.index.bytes > 0 || this.#shrunk > before;
      if (!isFreed) throw error;
      this.#shrunk++;
      this.#folder.index.shrink(0, this.#folder.remove);
      return remote.get(stored, path);
    }
  }

  /** Puts a compared file into the cache, if it has room for it; `path` stays. */
  #link(stored: StoredFile, path: string): void {
    const name = hashOf(stored.file);
    const makeLink = (): void => {
      const target = this.#folder.pathOf(name);
      mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
      const link = this.#folder.newPrivatePath('link');
      linkSync(path, link);
      renameSync(link, target);
      // Nothing happens if both are the same file.
      rmSync(link, { force: true });
    };
    const now = this.#now();
    this.#checked.set(stored.file, { stamp: stampOf(path), notedAt: now });
    try {
      this.#folder.index.add(
        { name, bytes: stored.bytes },
        { max: this.#options.max, now, link: makeLink, remove: this.#folder.remove },
      );
    } catch (error) {
      // The file is usable; it is fetched again next time.
      if (classifyFailure(error) === undefined) throw error;
    }
  }

  #noteHit(file: string): void {
    noteMeasured('storageRead', () => ({ outcome: 'hit' }));
    const known = this.#checked.get(file);
    if (known === undefined || this.#now() - known.notedAt < NOTE_EVERY) return;
    known.notedAt = this.#now();
    try {
      this.#folder.index.use(hashOf(file), known.notedAt);
    } catch (error) {
      // The previous use counts.
      if (classifyFailure(error) === undefined) throw error;
    }
  }
}
