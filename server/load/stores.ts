import { join, resolve } from 'node:path';
import type { OpenCatalog } from '../catalog/catalog.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { patternOf } from '../runtime/patterns.ts';
import type { Settings } from '../settings/settings.ts';
import { storageFolders } from '../storage/open-file-store.ts';

/** Settings and catalog of a change. */
export interface Stores {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
  /** Called for failures after a change, which stays. */
  readonly onWarning?: (warning: string) => void;
  /** Milliseconds; default: `Date.now`. */
  readonly now?: () => number;
}

export interface EngineStores extends Stores {
  /** Returns an engine over `loadFolders`, opened when it is first needed. */
  readonly engine: () => Promise<Engine>;
}

/** The folders that the engine of a load reads and writes. */
export function loadFolders(settings: Settings): string[] {
  const staging = join(settings.dataFolder, 'staging');
  // The engine also reads snapshots by pattern.
  return [staging, patternOf(resolve(staging)), ...storageFolders(settings)];
}
