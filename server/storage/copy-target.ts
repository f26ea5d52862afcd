import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BackupFolder } from './backup-folder.ts';
import type { StoredFile } from './file-store.ts';
import { FolderMark } from './folder-mark.ts';
import { readS3Address } from './s3/address.ts';
import { importS3 } from './s3/import-s3.ts';
import type { StorageSettings } from './storage-settings.ts';
import type { MarkedStore } from './store-mark.ts';

/** A place to which stored files are copied under their names. */
export interface CopyTarget extends MarkedStore, AsyncDisposable {
  /** Files copied concurrently. */
  readonly atOnce: number;
  /** Describes the damage of a file of the target; undefined if it is intact. */
  damageOf(file: StoredFile): Promise<string | undefined>;
  /** Copies a local file, and compares the copy. It appears under its name completely or not at all. */
  put(file: StoredFile, source: string): Promise<void>;
  /** Makes all copies durable. */
  flush(): Promise<void>;
}

/** Opens `s3://bucket/prefix`, at the endpoint of the settings, or a data folder. Throws for the store of the settings. */
export async function openCopyTarget(settings: StorageSettings, to: string): Promise<CopyTarget> {
  const { storage, dataFolder } = settings;
  const isSame = to.startsWith('s3:') ? trimmed(to) === trimmed(storage) : storage === '' && resolve(to) === dataFolder;
  if (isSame) throw new Error(`The files are in '${to}' already: name another place with --to.`);
  if (!to.startsWith('s3:')) return openFolder(resolve(to));
  if (readS3Address(to) === undefined) {
    throw new Error(
      `'${to}' is no address of an object store; it must be one such as s3://bucket or s3://bucket/prefix.`,
    );
  }
  const [{ openS3Files }, { remoteDamageOf }, { remoteMark }] = await Promise.all([
    importS3(`The target ${to}`),
    import('./s3/remote-files.ts'),
    import('./s3/s3-store.ts'),
  ]);
  const remote = openS3Files({ ...settings, storage: to });
  return {
    address: trimmed(to),
    mark: remoteMark(remote),
    atOnce: 8,
    damageOf: (file) => remoteDamageOf(remote, file),
    put: (file, source) => remote.put(file, source),
    flush: async () => {},
    [Symbol.asyncDispose]: async () => remote.close(),
  };
}

function openFolder(folder: string): CopyTarget {
  const files = new BackupFolder(folder);
  return {
    address: folder,
    mark: new FolderMark(folder),
    atOnce: 2,
    damageOf: (file) => files.damageOf(file),
    put: async (file, source) => {
      await files.put(file.file, source, file);
    },
    flush: () => files.flush(),
    [Symbol.asyncDispose]: () => rm(join(folder, 'unfinished'), { recursive: true, force: true }),
  };
}

function trimmed(address: string): string {
  return address.replace(/\/$/, '');
}
