import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, statSync } from 'node:fs';
import { chmod, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** An immutable file as it was written. `file` is its name: the path below the data folder. */
export interface StoredFile {
  readonly file: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

const FACTS = 'facts';
const TRASH = 'trash';
/** For so long files in the trash can be taken back: 7 days. */
const TRASH_MS = 7 * 86_400_000;

/**
 * The immutable files of a data folder. A file is written once under a name of its own, made durable, and read until it
 * is removed; nothing is ever changed in place.
 */
export class FactStore {
  readonly #dataFolder: string;
  /** Folders with new names that are not on the disk for certain yet. */
  readonly #unsynced = new Set<string>();

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  path(file: string): string {
    return join(this.#dataFolder, file);
  }

  /** Makes the folder of a new file; returns where to write it. Then `seal` it. */
  prepare(file: string): string {
    const target = this.path(file);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    return target;
  }

  /** Makes the content of a written file durable, and says what it is. Its name is durable after `syncFolders`. */
  async seal(file: string): Promise<StoredFile> {
    const path = this.path(file);
    await chmod(path, 0o600);
    await sync(path);
    this.#unsynced.add(this.#dataFolder);
    for (let folder = dirname(path); folder !== this.#dataFolder; folder = dirname(folder)) this.#unsynced.add(folder);
    return { file, ...(await measure(path)) };
  }

  /** Makes the names of sealed files durable, so that they survive a power cut. */
  async syncFolders(): Promise<void> {
    for (const folder of this.#unsynced) await sync(folder);
    this.#unsynced.clear();
  }

  async remove(file: string): Promise<void> {
    await rm(this.path(file), { force: true });
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.path(from), this.prepare(to));
    await sync(dirname(this.path(to)));
  }

  /** The names in a folder, in order; none where there is no folder. */
  async names(folder: string): Promise<string[]> {
    const names = await readdir(this.path(folder)).catch(ifMissing<string[]>([]));
    return names.sort((a, b) => (a < b ? -1 : 1));
  }

  /** The names of all fact files, current or not. */
  async list(): Promise<string[]> {
    const entries = await readdir(this.path(FACTS), { recursive: true, withFileTypes: true }).catch(ifMissing([]));
    return entries
      .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
      .map((entry) => relative(this.#dataFolder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  }

  /** What is wrong with a file, in words; undefined when it is what was written. Reads all of it. */
  async damageOf({ file, bytes, sha256 }: StoredFile): Promise<string | undefined> {
    const found = await measure(this.path(file)).catch(ifMissing(undefined));
    if (found === undefined) return 'it is missing';
    if (found.bytes !== bytes) return `it has ${found.bytes} bytes instead of ${bytes}`;
    if (found.sha256 !== sha256) return `its SHA-256 is ${found.sha256} instead of ${sha256}`;
    return undefined;
  }

  /** Changes when a file is written to or replaced; undefined when it is missing. Costs a few microseconds. */
  stampOf(file: string): string | undefined {
    const found = statSync(this.path(file), { throwIfNoEntry: false });
    return found && `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}`;
  }

  /** Moves files (or folders) of the data folder to the trash, where they stay for a week. */
  async moveToTrash(files: readonly string[], now: number): Promise<void> {
    const folder = join(TRASH, new Date(now).toISOString().replaceAll(':', '-'));
    for (const file of files) await this.rename(file, join(folder, file));
  }

  /** Takes a file back that was moved to the trash; false when it is not there. */
  async restoreFromTrash(file: string): Promise<boolean> {
    for (const { name } of (await this.#trashFolders()).reverse()) {
      const found = await stat(this.path(join(TRASH, name, file))).catch(ifMissing(undefined));
      if (found === undefined) continue;
      await this.rename(join(TRASH, name, file), file);
      return true;
    }
    return false;
  }

  /** Removes what has been in the trash for longer than a week. */
  async emptyTrash(now: number): Promise<void> {
    for (const { name, movedAt } of await this.#trashFolders()) {
      if (movedAt < now - TRASH_MS) await rm(this.path(join(TRASH, name)), { recursive: true, force: true });
    }
  }

  /** When `touch` was last called for a mark; 0 for never. Milliseconds. */
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

/** Makes sure that a file, or the names in a folder, are on the disk and survive a power cut. */
async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** Size and SHA-256 of a file, in one reading. */
async function measure(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const content = createReadStream(path, { highWaterMark: 262_144 });
  content.on('data', (chunk) => {
    bytes += chunk.length;
  });
  await pipeline(content, hash);
  return { bytes, sha256: hash.digest('hex') };
}

function ifMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return value;
    throw error;
  };
}
