import { mkdirSync, renameSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { classifyFailure, type ResourceFailure } from '../../domain/failures.ts';
import { ProcessFolder } from '../../runtime/process-folder.ts';
import { ifMissing } from '../local-files.ts';
import { CacheIndex } from './cache-index.ts';

/** A cache on disk: its files, their index, and a folder of this process. Recreated if somebody removes it. */
export class CacheFolder {
  readonly #path: string;
  readonly #processFolder: ProcessFolder;
  #index: CacheIndex;
  #made = 0;

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

  /** The names of all files of the cache. */
  async names(): Promise<string[]> {
    const entries = await readdir(join(this.#path, 'files'), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
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
      const folder = this.#processFolder.makeAgain(within);
      if (!this.#index.isLost) return { folder, index: false };
      const index = openIndex(this.#path);
      this.#index.close();
      this.#index = index;
      return { folder, index: true };
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
