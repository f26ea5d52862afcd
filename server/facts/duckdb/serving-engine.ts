import { storageFolders } from '../../storage/open-file-store.ts';
import { keptFolder, type StorageSettings } from '../../storage/storage-settings.ts';
import { Engine, type EngineOptions } from './engine.ts';

interface Options {
  /** For temporary files; see `ProcessFolder`. */
  readonly folder: { readonly path: string; makeAgain(within: string | undefined): boolean };
  readonly settings: StorageSettings & Pick<EngineOptions, 'memoryLimit' | 'threads'>;
}

/** Opens an engine over stored facts and lists. */
export function openServingEngine({ settings, folder }: Options): Promise<Engine> {
  const { memoryLimit, threads } = settings;
  return Engine.open({
    memoryLimit,
    threads,
    temporaryFolder: folder.path,
    makeFolder: () => void folder.makeAgain(keptFolder(settings)),
    folders: storageFolders(settings),
  });
}
