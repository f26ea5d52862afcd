import { filesOf } from '../catalog/fact-files.ts';
import { openJoinedStore } from '../catalog/store.ts';
import { listSyncDays } from '../catalog/sync-days.ts';
import { addDays, type Day, earlier, later, pacificDayOf } from '../domain/dates.ts';
import type { Connected } from './prepare.ts';
import { type DaySums, findMovedDays } from './questions.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

/**
 * The synced days among the newest `days` whose stored sums differ from those of the provider. One request.
 * Throws `ProviderFailure`.
 */
export async function compareWithProvider(
  stores: SyncStores,
  { project, connection }: Connected,
  { days, now, signal }: Pick<SyncOptions, 'now' | 'signal'> & { readonly days: number },
): Promise<Day[]> {
  const { catalog, gateway, clientOf } = stores;
  const from = addDays(pacificDayOf(now()), 1 - days);
  const synced = (await listSyncDays(catalog, project.id))
    .filter(({ table, state, day }) => table === 'site_daily' && state !== 'failed' && day >= from)
    .map(({ day }) => day);
  if (synced.length === 0) return [];
  const sums = await storedSums(stores, project.id, synced);
  const { property, country, brandTerms } = project;
  const counts = { requests: 0, retries: 0, rows: 0 };
  const client = clientOf(connection);
  const options = { gateway, client, project: { property, country, brandTerms }, counts, signal };
  return findMovedDays(options, synced, (day) => sums.get(day), 'all');
}

/** The stored site totals by day. */
async function storedSums(
  { settings, catalog, engine }: SyncStores,
  project: string,
  days: readonly Day[],
): Promise<ReadonlyMap<Day, DaySums>> {
  const range = { from: days.reduce(earlier), to: days.reduce(later) };
  const stored = await filesOf(catalog, project, 'site_daily', range);
  if (stored.length === 0) return new Map();
  await using store = await openJoinedStore(settings, catalog);
  using files = await store.open(stored);
  const parameters = { ...range, files: files.paths, device: 'all' };
  const rows = await (await engine()).query<DaySums & { date: Day }>('facts/site_daily', parameters);
  return new Map(rows.map(({ date, clicks, impressions }) => [date, { clicks, impressions }]));
}
