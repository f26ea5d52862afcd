import { rm, statfs, writeFile } from 'node:fs/promises';

/** Describes a lack of free space on the disk of a folder. @param required bytes */
export async function findShortage(folder: string, required: number): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free >= required) return undefined;
  const [available, wanted] = [free, required].map((bytes) => `${Math.floor(bytes / 1e6)} MB`);
  return `its disk has ${available} left, less than ORDINATE_MIN_FREE (${wanted})`;
}

const RESERVED_BYTES = 262_144;

/** Disk space taken in advance, so that on a full disk there is room to store the reason. */
export class DiskReserve {
  readonly #file: string;
  #isTaken = false;

  /** @param file created and removed */
  constructor(file: string) {
    this.#file = file;
  }

  /** Takes the space unless it is taken. Throws if there is none. */
  async take(): Promise<void> {
    if (this.#isTaken) return;
    try {
      await writeFile(this.#file, Buffer.alloc(RESERVED_BYTES), { mode: 0o600 });
      this.#isTaken = true;
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  async release(): Promise<void> {
    this.#isTaken = false;
    await rm(this.#file, { force: true });
  }
}

/** The disk has less free space than `ORDINATE_MIN_FREE`. */
class DiskShortage extends Error {
  readonly code = 'ENOSPC';
}

/** Throws if the disk of a folder has less free space than required. @param required bytes */
export async function requireDiskSpace(folder: string, required: number, reserve: DiskReserve): Promise<void> {
  const shortage = await findShortage(folder, required);
  if (shortage !== undefined) throw new DiskShortage(shortage);
  await reserve.take();
}
