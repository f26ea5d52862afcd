import { storageFolders } from '../../storage/open-file-store.ts';
import type { StorageSettings } from '../../storage/storage-settings.ts';
import { Engine, type EngineOptions } from './engine.ts';

type Options = Pick<EngineOptions, 'temporaryFolder'> & {
  readonly settings: StorageSettings & Pick<EngineOptions, 'memoryLimit' | 'threads'>;
};

/** Opens an engine over stored facts and lists. */
export function openServingEngine({ settings, temporaryFolder }: Options): Promise<Engine> {
  const { memoryLimit, threads } = settings;
  return Engine.open({ memoryLimit, threads, temporaryFolder, folders: storageFolders(settings) });
}
