import { join } from 'node:path';
import type { Settings } from '../settings/settings.ts';
import type { FileStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';

export type StorageSettings = Pick<Settings, 'dataFolder'>;

/** Opens the store of facts and lists. Dispose of it. */
export async function openFileStore({ dataFolder }: StorageSettings): Promise<FileStore> {
  return new FolderStore(dataFolder);
}

/** The folders in which the files of the store are read and written on this machine. */
export function storageFolders({ dataFolder }: StorageSettings): string[] {
  return [join(dataFolder, 'facts'), join(dataFolder, 'lists')];
}
