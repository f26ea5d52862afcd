import type { Catalog } from '../catalog/catalog.ts';
import { putSyncDays, type SyncDay } from '../catalog/sync-days.ts';
import { raiseEntityRevisions } from '../catalog/sync-projects.ts';
import { publishDays } from '../load/publish-days.ts';
import type { DayFiles } from './day-files.ts';
import type { SyncStores } from './run-options.ts';
import type { DayTable } from './tables.ts';

interface FetchedTables {
  readonly files: DayFiles;
  /** The new states of the fetched days. */
  readonly published: readonly SyncDay[];
  /** The state of a day before. */
  readonly before: (day: SyncDay) => SyncDay | undefined;
  /** Tables whose stored days have no state, so that days without rows may replace some. */
  readonly replaced?: ReadonlySet<string>;
  /** Returns whether the project's row changed. */
  readonly inTransaction?: (tx: Catalog) => Promise<boolean>;
}

/**
 * Replaces the changed days of tables that no window has, in one transaction with their states. Without a changed day
 * only the states are written.
 */
export async function publishFetched(
  stores: SyncStores,
  project: string,
  { files, published, before, replaced = new Set(), inTransaction }: FetchedTables,
): Promise<void> {
  const changed = published.filter((day) => {
    const stored = before(day);
    return stored === undefined || stored.state === 'failed'
      ? day.rows > 0 || stored !== undefined || replaced.has(day.table)
      : stored.digest !== day.digest;
  });
  const write = async (tx: Catalog): Promise<boolean> => {
    await putSyncDays(tx, project, published);
    return (await inTransaction?.(tx)) ?? false;
  };
  if (changed.length === 0) {
    await stores.catalog.transaction(async (tx) => raiseEntityRevisions(tx, (await write(tx)) ? [project] : []));
    return;
  }
  const byTable = [...Map.groupBy(changed, ({ table }) => table as DayTable)];
  const newDays = async () =>
    byTable.map(([table, ofTable]) => {
      const days = ofTable.map(({ day }) => day);
      return { table, days, files: files.files(table, days) };
    });
  await publishDays(stores, { project, newDays, inTransaction: write });
}
