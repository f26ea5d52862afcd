import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ifMissing, syncFolder } from './local-files.ts';
import { MARK_FILE, type MarkPlace } from './store-mark.ts';

/** File systems without links. */
const NO_LINKS = ['EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS'];

/** The mark of a store that is a folder. */
export class FolderMark implements MarkPlace {
  readonly #folder: string;
  readonly #path: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, MARK_FILE);
  }

  read(): Promise<string | undefined> {
    return readFile(this.#path, 'utf8').catch(ifMissing(undefined));
  }

  async write(text: string, { isNew }: { readonly isNew: boolean }): Promise<boolean> {
    const unfinished = `${this.#path}-${randomUUID()}`;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    try {
      {
        await using file = await open(unfinished, 'wx', 0o600);
        await file.writeFile(text);
        await file.sync();
      }
      if (isNew && !(await this.#create(unfinished))) return false;
      if (!isNew) await rename(unfinished, this.#path);
      await syncFolder(this.#folder);
      return true;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** False if there is a mark. */
  async #create(unfinished: string): Promise<boolean> {
    try {
      await link(unfinished, this.#path);
      return true;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      if (!NO_LINKS.includes(code)) throw error;
    }
    if ((await this.read()) !== undefined) return false;
    await rename(unfinished, this.#path);
    return true;
  }
}
