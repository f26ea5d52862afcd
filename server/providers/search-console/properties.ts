import type { Connection } from '../../catalog/connections.ts';
import { addDays, type Day, pacificDayOf } from '../../domain/dates.ts';
import { jobOfCommand } from '../gateway.ts';
import type { ProviderContext } from '../provider.ts';
import type { AnalyticsQuery } from './analytics-query.ts';
import { type AnalyticsRow, SearchAnalytics, type Site } from './search-analytics.ts';

/** Rows from which the top queries are chosen, in one request. */
const CANDIDATES = 25_000;
/** Days over which clicks are counted. */
const TOP_DAYS = 28;

/** The properties that credentials have access to. */
export interface Properties {
  readonly readable: readonly Site[];
  /** Added to the account but not verified. */
  readonly unverified: readonly Site[];
}

/** The properties that the credentials of a connection have access to, sorted. Throws `ProviderFailure`. */
export async function readProperties(context: ProviderContext, connection: Connection): Promise<Properties> {
  const job = { ...jobOfCommand(connection.kind, '', 'properties'), ignoresPauses: true };
  const sites = await context.gateway.run(
    job,
    (run) => new SearchAnalytics(connection, context).sites(run),
    () => ({}),
  );
  const sorted = sites.toSorted((a, b) => (a.property < b.property ? -1 : 1));
  const isUnverified = ({ permission }: Site): boolean => permission === 'siteUnverifiedUser';
  return { readable: sorted.filter((site) => !isUnverified(site)), unverified: sorted.filter(isUnverified) };
}

interface TopQueries {
  readonly property: string;
  /** Lower-case alpha-3, or null for all. */
  readonly country: string | null;
  readonly count: number;
  /** Milliseconds. */
  readonly now: number;
}

/** The queries with the most clicks in the last 28 days, best first. Throws `ProviderFailure`. */
export async function readTopQueries(
  context: ProviderContext,
  connection: Connection,
  { property, country, count, now }: TopQueries,
): Promise<string[]> {
  const to: Day = addDays(pacificDayOf(now), -1);
  const query: AnalyticsQuery = {
    property,
    from: addDays(to, 1 - TOP_DAYS),
    to,
    dimensions: ['query'],
    aggregation: 'byProperty',
    dataState: 'all',
    filters: country === null ? [] : [{ dimension: 'country', operator: 'equals', expression: country }],
  };
  const rows: AnalyticsRow[] = [];
  const take = async (more: readonly AnalyticsRow[]): Promise<void> => void rows.push(...more);
  await context.gateway.run(
    jobOfCommand(connection.kind, property, 'top queries'),
    (run) => new SearchAnalytics(connection, context).read(query, { max: Math.max(count, CANDIDATES), take }, run),
    ({ rows: read }) => ({ rows: read }),
  );
  return rows
    .toSorted((a, b) => b.clicks - a.clicks || b.impressions - a.impressions || (a.keys[0]! < b.keys[0]! ? -1 : 1))
    .slice(0, count)
    .map(({ keys }) => keys[0]!);
}
