import { join } from 'node:path';
import type { FileStore } from '../file-store.ts';
import { keptFolder, type StorageSettings } from '../storage-settings.ts';
import { readS3Address } from './address.ts';
import { FileCache } from './file-cache.ts';
import { S3Files } from './s3-files.ts';
import { S3Store } from './s3-store.ts';

interface Opened {
  readonly remote: S3Files;
  readonly cache: FileCache;
}

interface Shared {
  readonly opening: Promise<Opened>;
  users: number;
}

/** The stores of this process that are open, by their settings: connections and held files are shared. */
const shared = new Map<string, Shared>();

/** Opens the store of the settings, of which each process has one at most. Dispose of the result once. */
export async function openS3Store(settings: StorageSettings): Promise<FileStore> {
  const { dataFolder, storage, storageEndpoint, storageRegion, storagePathStyle, storageCache } = settings;
  const key = JSON.stringify([dataFolder, storage, storageEndpoint, storageRegion, storagePathStyle, storageCache]);
  const found = shared.get(key) ?? { opening: open(settings), users: 0 };
  shared.set(key, found);
  found.users++;
  const leave = async (): Promise<void> => {
    found.users--;
    if (found.users > 0) return;
    if (shared.get(key) === found) shared.delete(key);
    const { remote, cache } = await found.opening;
    await cache.close();
    remote.close();
  };
  try {
    const { remote, cache } = await found.opening;
    return new S3Store(remote, cache, leave);
  } catch (error) {
    if (shared.get(key) === found) shared.delete(key);
    throw error;
  }
}

/** The object store of the settings, without a cache. */
export function openS3Files(settings: Omit<StorageSettings, 'dataFolder' | 'storageCache' | 'catalogUrl'>): S3Files {
  const { storage, storageEndpoint, storageRegion, storagePathStyle } = settings;
  const endpoint = storageEndpoint === '' ? undefined : storageEndpoint;
  return new S3Files({
    address: readS3Address(storage)!,
    endpoint,
    region: storageRegion === '' ? undefined : storageRegion,
    pathStyle: storagePathStyle === 'as-usual' ? endpoint !== undefined : storagePathStyle,
  });
}

async function open(settings: StorageSettings): Promise<Opened> {
  const remote = openS3Files(settings);
  try {
    const folder = join(settings.dataFolder, 'cache');
    const max = settings.storageCache;
    return { remote, cache: await FileCache.open({ remote, folder, within: keptFolder(settings), max }) };
  } catch (error) {
    remote.close();
    throw error;
  }
}
