import type { OpenCatalog } from '../catalog/catalog.ts';
import type { Settings } from '../settings/settings.ts';

/** What code that changes stored data works on. */
export interface Stores {
  readonly settings: Settings;
  readonly catalog: OpenCatalog;
}
