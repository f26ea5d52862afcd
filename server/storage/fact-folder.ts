import { open, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileFolder } from './file-store.ts';
import { ifMissing, LocalFiles } from './local-files.ts';

const FACTS = 'facts';
const TRASH = 'trash';
/** How long files stay in the trash: 7 days. */
const TRASH_MS = 7 * 86_400_000;

/** The fact files of a data folder, and the trash. */
export class FactFolder extends LocalFiles implements FileFolder {
  /** The names of all fact files, current or not. */
  async factFiles(): Promise<string[]> {
    const files = await this.list(FACTS);
    return files.map(({ file }) => file).filter((file) => file.endsWith('.parquet'));
  }

  /** Moves files (or folders) of the data folder to the trash, where they stay for a week. */
  async moveToTrash(files: readonly string[], now: number): Promise<void> {
    const folder = join(TRASH, new Date(now).toISOString().replaceAll(':', '-'));
    for (const file of files) await this.rename(file, join(folder, file));
  }

  /** Restores a file from the trash; false if it is not there. */
  async restoreFromTrash(file: string): Promise<boolean> {
    for (const { name } of (await this.#trashFolders()).reverse()) {
      const found = await stat(this.path(join(TRASH, name, file))).catch(ifMissing(undefined));
      if (found === undefined) continue;
      await this.rename(join(TRASH, name, file), file);
      return true;
    }
    return false;
  }

  /** Removes files that have been in the trash for more than a week. */
  async emptyTrash(now: number): Promise<void> {
    for (const { name, movedAt } of await this.#trashFolders()) {
      if (movedAt < now - TRASH_MS) await rm(this.path(join(TRASH, name)), { recursive: true, force: true });
    }
  }

  /** When `touch` was last called for a mark, in milliseconds; 0 for never. */
  async touchedAt(mark: string): Promise<number> {
    const found = await stat(this.path(join(TRASH, mark))).catch(ifMissing(undefined));
    return found?.mtimeMs ?? 0;
  }

  async touch(mark: string, now: number): Promise<void> {
    const path = this.prepare(join(TRASH, mark));
    await (await open(path, 'a', 0o600)).close();
    await utimes(path, now / 1000, now / 1000);
  }

  /** Oldest first. */
  async #trashFolders(): Promise<{ name: string; movedAt: number }[]> {
    return (await this.names(TRASH)).flatMap((name) => {
      const movedAt = Date.parse(name.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:'));
      return Number.isNaN(movedAt) ? [] : [{ name, movedAt }];
    });
  }
}
