import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { copyFile, link, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BackupStore, OtherContent } from './backup-store.ts';
import type { StoredFile } from './file-store.ts';
import { ifMissing, LocalFiles } from './local-files.ts';

/** Files are written here and renamed when they are complete and durable. */
const UNFINISHED = 'unfinished';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Stores backups in a folder. */
export class BackupFolder implements BackupStore {
  readonly address: string;
  readonly #files: LocalFiles;

  constructor(folder: string) {
    this.address = folder;
    this.#files = new LocalFiles(folder);
  }

  put(file: string, source: string, expected?: StoredFile): Promise<StoredFile> {
    return this.#write(file, (path) => copyFile(source, path), expected);
  }

  async putText(file: string, text: string): Promise<void> {
    await this.#write(file, (path) => writeFile(path, text, { mode: 0o600 }));
    await this.flush();
  }

  async link(file: string, source: string): Promise<boolean> {
    const unfinished = `${UNFINISHED}/${randomUUID()}`;
    try {
      await link(source, this.#files.prepare(unfinished));
    } catch (error) {
      // Another file system, or one without links.
      if (['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error))) return false;
      throw error;
    }
    await this.#files.move(unfinished, file);
    // Renaming a link to another link of the same file does nothing.
    await this.#files.remove(unfinished);
    return true;
  }

  isLinked(file: string, source: string): boolean {
    const [a, b] = [this.#files.path(file), source].map((path) => statSync(path, { throwIfNoEntry: false }));
    return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
  }

  flush(): Promise<void> {
    return this.#files.syncFolders();
  }

  async get(file: string, target: string): Promise<void> {
    await copyFile(this.#files.path(file), target);
  }

  async getText(file: string): Promise<string | undefined> {
    return readFile(this.#files.path(file), 'utf8').catch(ifMissing(undefined));
  }

  names(folder: string): Promise<string[]> {
    return this.#files.names(folder);
  }

  sizeOf(file: string): number | undefined {
    return this.#files.sizeOf(file);
  }

  damageOf(file: StoredFile): Promise<string | undefined> {
    return this.#files.damageOf(file);
  }

  remove(file: string): Promise<void> {
    return this.#files.removeWithFolders(file);
  }

  async removeUnfinished(): Promise<void> {
    for (const name of await this.names(UNFINISHED)) {
      if (UUID.test(name)) await rm(join(this.address, UNFINISHED, name), { force: true });
    }
  }

  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.address);
    return bavail * bsize;
  }

  async #write(file: string, write: (path: string) => Promise<void>, expected?: StoredFile): Promise<StoredFile> {
    const unfinished = `${UNFINISHED}/${randomUUID()}`;
    try {
      await write(this.#files.prepare(unfinished));
      const { bytes, sha256 } = await this.#files.seal(unfinished);
      if (expected !== undefined && (bytes !== expected.bytes || sha256 !== expected.sha256)) {
        throw new OtherContent(
          `it has ${bytes} bytes and the SHA-256 ${sha256} instead of ${expected.bytes} and ${expected.sha256}`,
        );
      }
      await this.#files.move(unfinished, file);
      return { file, bytes, sha256 };
    } catch (error) {
      await this.#files.remove(unfinished);
      throw error;
    }
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
