import { join } from 'node:path';
import type { FileStore } from './file-store.ts';
import { FolderStore } from './folder-store.ts';
import type { StorageSettings } from './storage-settings.ts';

/** Opens the store of facts and lists. Dispose of it. */
export async function openFileStore(settings: StorageSettings): Promise<FileStore> {
  if (settings.storage === '') return new FolderStore(settings.dataFolder);
  const { importS3 } = await import('./s3/import-s3.ts');
  return (await importS3('ORDINATE_STORAGE')).openS3Store(settings);
}

/** The folders in which the files of the store are read and written on this machine. */
export function storageFolders({ dataFolder, storage }: Pick<StorageSettings, 'dataFolder' | 'storage'>): string[] {
  return storage === '' ? [join(dataFolder, 'facts'), join(dataFolder, 'lists')] : [join(dataFolder, 'cache')];
}
