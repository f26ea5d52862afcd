import { createHash } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { classifyFailure, type ResourceFailure } from '../../domain/failures.ts';
import { ProcessFolder } from '../../runtime/process-folder.ts';
import { ifMissing } from '../local-files.ts';
import { CacheIndex } from './cache-index.ts';

/** How often the files of the cache are compared with its index, in milliseconds: once a day. */
const LIST_EVERY = 86_400_000;

/** A cache on disk: its files, their index, and a folder of this process. Recreated if somebody removes it. */
export class CacheFolder {
  readonly #path: string;
  readonly #processFolder: ProcessFolder;
  #index: CacheIndex;
  #made = 0;
  /** The folder of this process was made again, and nobody knows it yet: the index could not be opened. */
  #isNew = false;

  private constructor(path: string, index: CacheIndex, processFolder: ProcessFolder) {
    this.#path = path;
    this.#index = index;
    this.#processFolder = processFolder;
  }

  static async open(path: string): Promise<CacheFolder> {
    const index = openIndex(path);
    try {
      return new CacheFolder(path, index, await ProcessFolder.take(join(path, 'processes')));
    } catch (error) {
      index.close();
      throw error;
    }
  }

  get index(): CacheIndex {
    return this.#index;
  }

  /** A path in the folder of this process alone. */
  privatePath(name: string): string {
    return join(this.#processFolder.path, name);
  }

  /** A new, unused path in that folder. */
  newPrivatePath(name: string, ending = ''): string {
    return this.privatePath(`${name}-${this.#made++}${ending}`);
  }

  /** The path of a file of the cache. */
  pathOf(name: string): string {
    return join(this.#path, 'files', name.slice(0, 2), name);
  }

  /**
   * Adds files that the index lacks, because it was lost or a process was killed; looks once a day.
   * @param max bytes of files that nothing reads
   * @param now milliseconds
   */
  async adoptStrays({ max, now }: { readonly max: number; readonly now: number }): Promise<void> {
    const index = this.#index;
    if (now - index.listedAt < LIST_EVERY) return;
    const entries = await readdir(join(this.#path, 'files'), { recursive: true, withFileTypes: true });
    index.listedAt = now;
    for (const entry of entries) {
      const { name } = entry;
      if (!entry.isFile() || index.has(name)) continue;
      const found = await stat(this.pathOf(name)).catch(ifMissing(undefined));
      if (found === undefined) continue;
      const usedAt = Math.floor(found.mtimeMs);
      index.add({ name, bytes: found.size }, { max, now: usedAt, link: () => {}, remove: this.remove });
    }
  }

  /** Moves a file away, which is quick, and removes it later: removing a large file would block requests. */
  readonly remove = (name: string): void => {
    const away = this.newPrivatePath('removed');
    try {
      renameSync(this.pathOf(name), away);
    } catch (error) {
      ifMissing(undefined)(error);
    }
    void rm(away, { force: true }).catch(() => {});
  };

  /**
   * Recreates what was removed, and returns what that was. Takes some microseconds. Throws a failure of the machine if
   * this is impossible.
   * @param within a folder that is not recreated: throws if it is missing
   */
  makeAgain(within: string | undefined): { readonly folder: boolean; readonly index: boolean } {
    try {
      this.#isNew = this.#processFolder.makeAgain(within) || this.#isNew;
      const isLost = this.#index.isLost;
      if (isLost) {
        const index = openIndex(this.#path);
        this.#index.close();
        this.#index = index;
      }
      const folder = this.#isNew;
      this.#isNew = false;
      return { folder, index: isLost };
    } catch (cause) {
      throw new LostCache(this.#path, cause as Error);
    }
  }

  async close(): Promise<void> {
    this.#index.close();
    await this.#processFolder.remove();
  }
}

/** The folder of a cache was removed, and cannot be recreated. */
class LostCache extends Error {
  readonly resource: ResourceFailure;

  constructor(path: string, cause: Error) {
    super(`The cache of files, '${path}', was removed and cannot be made again (${cause.message}).`, { cause });
    this.resource = classifyFailure(cause) ?? 'cannot-open';
  }
}

function openIndex(path: string): CacheIndex {
  mkdirSync(join(path, 'files'), { recursive: true, mode: 0o700 });
  return CacheIndex.open(join(path, 'index.sqlite'));
}

/** The name of a file in the cache. */
export function hashOf(file: string): string {
  return createHash('sha256').update(file).digest('hex').slice(0, 32);
}
