import type { SyncDay } from '../server/catalog/sync-days.ts';
import { NOW } from './world.ts';

/** A final day that the sync has stored. */
export function syncDay(table: SyncDay['table'], day: string, more: Partial<SyncDay> = {}): SyncDay {
  const counts = { rows: 1, clicks: 1, impressions: 1, digest: '', compared: 0 };
  const fetched = { fetchedAt: NOW * 1000, attempts: 0, reason: null, nextTry: null };
  return { table, day, state: 'done', final: true, cutOff: false, ...counts, ...fetched, ...more };
}
