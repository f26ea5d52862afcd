import type { Archive } from '../catalog/connections.ts';
import type { FactTable } from '../model/tables.ts';

/** The fact tables that the sync fills by day, in request order. */
export const SYNC_TABLES = [
  'site_daily',
  'country_daily',
  'brand_daily',
  'appearance_daily',
  'keyword_daily',
  'keyword_page_daily',
  'query_daily',
  'page_daily',
] as const satisfies readonly FactTable[];
export type SyncTable = (typeof SYNC_TABLES)[number];

/** Filled by a separate request, without history (`hours.ts`). */
export const HOURS_TABLE = 'site_hourly';
/** The tables whose state the sync stores by day. */
export type DayTable = SyncTable | typeof HOURS_TABLE | FactTable;

/** Facts of tracked keywords, which can be fetched for single keywords. */
export const KEYWORD_TABLES: readonly SyncTable[] = ['keyword_daily', 'keyword_page_daily'];
/** Tables that need a request per day. */
export const DAY_BY_DAY: readonly SyncTable[] = ['query_daily', 'page_daily'];

/** The tables that the sync fills for a connection. */
export function tablesOf(archive: Archive): SyncTable[] {
  const left = new Set<SyncTable>();
  if (!archive.includes('queries')) left.add('query_daily');
  if (!archive.includes('pages')) left.add('page_daily');
  return SYNC_TABLES.filter((table) => !left.has(table));
}
