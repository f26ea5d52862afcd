import type { CatalogLocation } from '../catalog/location.ts';
import { openUsage } from '../catalog/open-usage.ts';
import { countOtherLoad, countPublishedLoad, type LoadKind, type Usage } from '../catalog/usage.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { LoadRejected } from '../domain/problems.ts';

/** The counts of a load. */
export interface Counts {
  readonly tables: Readonly<Record<string, { readonly rows: number }>>;
  readonly seconds: number;
}

/**
 * Runs a load and counts it for metrics, in the usage database, because most loads run in processes of their own. The
 * numbers are expendable: failed writes are dropped.
 * @param signal a load that it has ended is not counted
 */
export async function countLoad<T extends Counts>(
  location: CatalogLocation,
  kind: LoadKind,
  load: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    const loaded = await load();
    const rows = Object.values(loaded.tables).reduce((sum, table) => sum + table.rows, 0);
    const { seconds } = loaded;
    await write(location, (usage) =>
      countPublishedLoad(usage, { kind, at: toMicroseconds(Date.now()), rows, seconds }),
    );
    return loaded;
  } catch (error) {
    signal?.throwIfAborted();
    const how = error instanceof LoadRejected ? 'rejected' : 'failed';
    await write(location, (usage) => countOtherLoad(usage, kind, how));
    throw error;
  }
}

async function write(location: CatalogLocation, count: (usage: Usage) => Promise<void>): Promise<void> {
  const usage = openUsage(location, () => {});
  try {
    await count(usage);
  } finally {
    await usage.close();
  }
}
