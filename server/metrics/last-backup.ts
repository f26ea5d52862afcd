import type { Catalog } from '../catalog/catalog.ts';
import type { Microseconds } from '../domain/instants.ts';

/** When the last successful backup ended; null if there was none. */
export async function lastBackupAt(_catalog: Catalog): Promise<Microseconds | null> {
  return null;
}
