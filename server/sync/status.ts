import type { Catalog } from '../catalog/catalog.ts';
import { endOfGrant, findGrant } from '../catalog/connections.ts';
import type { Project } from '../catalog/projects.ts';
import { type Day, eachDay, earlier, later, pacificDayOf } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import { byTable } from './day-states.ts';
import { findConnected, readBeforeRun } from './prepare.ts';
import type { SyncTable } from './tables.ts';

interface TableStatus {
  /** First and last day with rows. */
  readonly firstDay: Day | null;
  readonly lastDay: Day | null;
  readonly pendingDays: number;
  readonly cutOffDays: number;
}

/** The sync status of a project, for operators. */
export interface SyncStatus {
  readonly id: string;
  readonly status: Project['syncStatus'];
  readonly lastRun: Microseconds | null;
  readonly lastError: string | null;
  /** Null: as soon as possible. */
  readonly nextRun: Microseconds | null;
  /** When the provider ends the grant of the connection, an instant, and what to do; nulls where it does not say. */
  readonly endsAt: string | null;
  readonly warning: string | null;
  /** The days to sync, and how many are complete in all tables. */
  readonly backfill: { readonly from: Day; readonly through: Day; readonly done: number; readonly total: number };
  readonly tables: Readonly<Partial<Record<SyncTable, TableStatus>>>;
}

/** Undefined if the project has no connection. @param now milliseconds */
export async function readSyncStatus(catalog: Catalog, id: string, now: number): Promise<SyncStatus | undefined> {
  const connected = await findConnected(catalog, id);
  if (connected === undefined) return undefined;
  const { grant: grantId } = connected.connection;
  const grant = grantId === null ? undefined : await findGrant(catalog, grantId);
  const today = pacificDayOf(now);
  const { sync, input } = await readBeforeRun(catalog, connected, { today, now, staleAfter: 0 });
  const through = sync.lastDay ?? today;
  const { from } = input.syncRange;
  const days = byTable(input.days);
  const allDays = eachDay(from, through);
  const isIn = (table: SyncTable, day: Day): boolean => (days.get(table)?.get(day)?.state ?? 'failed') !== 'failed';
  const tables = input.tables.map((table): [SyncTable, TableStatus] => {
    const known = [...(days.get(table)?.values() ?? [])];
    const withRows = known.filter(({ rows }) => rows > 0).map(({ day }) => day);
    return [
      table,
      {
        firstDay: withRows.length === 0 ? null : withRows.reduce(earlier),
        lastDay: withRows.length === 0 ? null : withRows.reduce(later),
        pendingDays: allDays.filter((day) => !isIn(table, day)).length,
        cutOffDays: known.filter(({ cutOff }) => cutOff).length,
      },
    ];
  });
  const done = allDays.filter((day) => input.tables.every((table) => isIn(table, day))).length;
  return {
    id,
    status: connected.project.syncStatus,
    lastRun: sync.lastRunAt,
    lastError: sync.lastError,
    nextRun: sync.nextRunAt,
    ...endOfGrant(grant),
    backfill: { from, through, done, total: allDays.length },
    tables: Object.fromEntries(tables),
  };
}
