import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { copyStateInto } from '../catalog/copy.ts';
import type { CatalogLocation } from '../catalog/location.ts';
import { copyCatalog, openJoinedStore } from '../catalog/store.ts';
import { OtherContent } from '../storage/backup-store.ts';
import { DamagedFile, MISSING } from '../storage/checked-files.ts';
import type { OpenFiles, StoredFile } from '../storage/file-store.ts';
import { LocalFiles } from '../storage/local-files.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';

/** What a backup reads: one state of the catalog, and the fact files that it names. */
export interface BackupSource extends AsyncDisposable {
  /** Writes one state of the catalog to a new SQLite file, during reads and writes. The file is not durable yet. */
  copyCatalog(path: string, report: (step: string) => void): Promise<void>;
  /**
   * Opens a file for reading; undefined if it is missing. Throws `OtherContent` for one that an object store has damaged; a
   * file of a folder is compared while it is copied.
   */
  open(file: StoredFile): Promise<OpenFiles | undefined>;
  /** The path or address of a file, for messages. */
  addressOf(file: string): string;
  /** The folder of the files, where they are in one. Only such files can be linked. */
  readonly folder: LocalFiles | undefined;
  /** Files read concurrently: an object store answers slowly. */
  readonly atOnce: number;
}

/** Opens the stores of the settings for a backup. */
export async function openBackupSource(
  settings: CatalogLocation & StorageSettings,
  catalog: OpenCatalog,
): Promise<BackupSource> {
  const { dataFolder, catalogUrl, storage } = settings;
  const catalogOf: Pick<BackupSource, 'copyCatalog'> = {
    copyCatalog: async (path, report) => {
      if (catalogUrl === '') return copyCatalog(dataFolder, path);
      // A folder of its own beside the file: a copy is made in one.
      const folder = `${path}.copy`;
      await copyStateInto(catalog, folder, report);
      await rename(join(folder, 'catalog.sqlite'), path);
    },
  };
  if (storage === '') {
    const folder = new LocalFiles(dataFolder);
    return {
      ...catalogOf,
      folder,
      atOnce: 2,
      open: async ({ file }) => {
        if (folder.sizeOf(file) === undefined) return undefined;
        return { paths: [folder.path(file)], [Symbol.dispose]: () => {} };
      },
      addressOf: (file) => folder.path(file),
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const store = await openJoinedStore(settings, catalog);
  return {
    ...catalogOf,
    folder: undefined,
    atOnce: 8,
    open: async (file) => {
      try {
        return await store.open([file]);
      } catch (error) {
        if (!(error instanceof DamagedFile)) throw error;
        if (error.damage === MISSING) return undefined;
        throw new OtherContent(error.damage);
      }
    },
    addressOf: (file) => store.addressOf(file),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
