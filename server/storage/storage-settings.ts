import type { Settings } from '../settings/settings.ts';

/** The settings of the store of facts and lists. */
export type StorageSettings = Pick<
  Settings,
  'dataFolder' | 'catalogUrl' | 'storage' | 'storageEndpoint' | 'storageRegion' | 'storagePathStyle' | 'storageCache'
>;

/** The data folder if it has a catalog, which cannot be recreated; undefined if everything in it can. */
export function keptFolder({
  dataFolder,
  catalogUrl,
}: Pick<StorageSettings, 'dataFolder' | 'catalogUrl'>): string | undefined {
  return catalogUrl === '' ? dataFolder : undefined;
}

/** Throws if facts and lists are not in the data folder. @param remedy what to do instead */
export function requireFolder({ storage }: Pick<StorageSettings, 'storage'>, remedy: string): void {
  if (storage === '') return;
  throw new Error(
    `Facts and lists are in an object store (ORDINATE_STORAGE), for which this command is not made. ${remedy}`,
  );
}
