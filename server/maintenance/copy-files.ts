import { allEnded } from '../runtime/promises.ts';
import { type BackupStore, OtherContent } from '../storage/backup-store.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { ifMissing } from '../storage/local-files.ts';
import type { BackupSource } from './backup-source.ts';

export interface CopyOptions {
  /** Links files instead of copying them, if the target is on the same file system. */
  readonly link: boolean;
  /** The hashes of files that earlier backups have compared: for these the size is enough. */
  readonly trusted: ReadonlyMap<string, string>;
  readonly report: (step: string) => void;
}

export interface DamagedSource {
  readonly file: string;
  readonly damage: string;
}

/** Result of a copy. */
export class Copied {
  copied = 0;
  copiedBytes = 0;
  linked = 0;
  /** Files of the target that were damaged and have been copied again. */
  readonly repaired: string[] = [];
  /** Files that the source no longer has. */
  readonly missing: StoredFile[] = [];
  /** Damaged files of the source that the target does not have. */
  readonly damaged: DamagedSource[] = [];

  /** Adds the counts of another round. */
  add({ copied, copiedBytes, linked, repaired }: Copied): void {
    this.copied += copied;
    this.copiedBytes += copiedBytes;
    this.linked += linked;
    this.repaired.push(...repaired);
  }
}

interface CopySource {
  readonly store: BackupStore;
  readonly source: BackupSource;
}

/** Copies the fact files that the target does not have, and compares all others with their hashes. */
export async function copyFiles(
  { store, source }: CopySource,
  files: readonly StoredFile[],
  { link, trusted, report }: CopyOptions,
): Promise<Copied> {
  const result = new Copied();
  const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const queue = files.values();
  let done = 0;
  let doneBytes = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (const file of queue) {
      if (hasFailed) return;
      const isThere = store.sizeOf(file.file) !== undefined;
      const isIntact = isThere && (await isStored(store, file, trusted));
      // A linked file is no second copy.
      const isKept =
        isIntact && (link || source.folder === undefined || !store.isLinked(file.file, source.folder.path(file.file)));
      if (!isKept && (await copyOne({ store, source }, file, link, result)) && isThere && !isIntact) {
        result.repaired.push(file.file);
      }
      done++;
      doneBytes += file.bytes;
      report(
        `comparing and copying files: ${done} of ${files.length}, ${megabytes(doneBytes)} of ${megabytes(all)} MB`,
      );
    }
  };
  const working = Array.from({ length: source.atOnce }, () =>
    work().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  // All must end before anything is cleaned up.
  await allEnded(working);
  return result;
}

async function isStored(store: BackupStore, file: StoredFile, trusted: CopyOptions['trusted']): Promise<boolean> {
  if (trusted.get(file.file) === file.sha256) return store.sizeOf(file.file) === file.bytes;
  return (await store.damageOf(file)) === undefined;
}

/** False if the source does not have the file as it was written; notes it in the result. */
async function copyOne(
  { store, source }: CopySource,
  file: StoredFile,
  link: boolean,
  result: Copied,
): Promise<boolean> {
  try {
    using opened = await source.open(file);
    if (opened === undefined) {
      result.missing.push(file);
      return false;
    }
    const path = opened.paths[0]!;
    if (link && source.folder !== undefined) {
      const damage = await source.folder.damageOf(file);
      if (damage !== undefined) throw new OtherContent(damage);
      if (await store.link(file.file, path)) {
        result.linked++;
        return true;
      }
    }
    await store.put(file.file, path, file);
    result.copied++;
    result.copiedBytes += file.bytes;
    return true;
  } catch (error) {
    if (error instanceof OtherContent) result.damaged.push({ file: file.file, damage: error.message });
    else if (ifMissing(true)(error)) result.missing.push(file);
    return false;
  }
}

/** `1,234.5` */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toLocaleString('en', { maximumFractionDigits: 1 });
}
