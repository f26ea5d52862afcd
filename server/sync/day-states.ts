import type { SyncDay } from '../catalog/sync-days.ts';
import { pauseAfter } from '../domain/back-off.ts';
import { countDays, type Day, eachDay } from '../domain/dates.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { type FetchedDay, NO_ROWS, sumOfDigests } from './day-files.ts';
import type { FetchedWindow } from './fetch.ts';
import type { SyncWindow } from './plan.ts';
import type { DayTable, SyncTable } from './tables.ts';

/** The states of days, by table and day. */
export type DaysByTable = ReadonlyMap<DayTable, ReadonlyMap<Day, SyncDay>>;

/** Ages in days at which final days are compared with the provider again. */
const COMPARED_AT = [30, 7];
/** Pauses before a failed table is fetched again, in milliseconds. */
const FIRST_PAUSE = 3_600_000;
const MAX_PAUSE = 86_400_000;

/** What the new states of days are made of; see `WindowPublication`. */
interface FetchedPublication {
  readonly window: SyncWindow;
  readonly fetched: FetchedWindow;
  readonly days: DaysByTable;
  readonly today: Day;
  readonly provisionalAfter: Day;
  /** Milliseconds. */
  readonly now: number;
}

/** The states that the days of a window have once it is published. */
export function statesAfter(publication: FetchedPublication): SyncDay[] {
  const { window, fetched, days } = publication;
  return window.dayQueries.flatMap(({ table, from, to }) => {
    const failure = fetched.failures.get(table);
    return eachDay(from, to).flatMap((day) => {
      const before = days.get(table)?.get(day);
      if (failure !== undefined)
        return [failedDay(table, day, before, failure.message, toMicroseconds(publication.now))];
      const found = fetched.files.days(table).get(day);
      return found === undefined ? [] : [fetchedDay(table, day, found, before, publication)];
    });
  });
}

function fetchedDay(
  table: SyncTable,
  day: Day,
  found: FetchedDay,
  before: SyncDay | undefined,
  { window, today, provisionalAfter, now }: FetchedPublication,
): SyncDay {
  // Windows of keywords add rows to published days.
  const added =
    window.kind === 'keywords' && before !== undefined ? before : { ...NOTHING, final: day <= provisionalAfter };
  const sums: FetchedDay = {
    cutOff: added.cutOff || found.cutOff,
    rows: added.rows + found.rows,
    clicks: added.clicks + found.clicks,
    impressions: added.impressions + found.impressions,
    digest: sumOfDigests(added.digest, found.digest),
  };
  const compared = added.final ? comparedAt(day, today) : 0;
  return fetchedState(table, day, sums, { final: added.final, compared, fetchedAt: toMicroseconds(now) });
}

/** The state of a day that was fetched successfully. */
export function fetchedState(
  table: DayTable,
  day: Day,
  sums: FetchedDay,
  state: Pick<SyncDay, 'final' | 'compared' | 'fetchedAt'>,
): SyncDay {
  const { rows } = sums;
  return {
    table,
    day,
    ...sums,
    ...state,
    state: rows > 0 ? 'done' : 'empty',
    attempts: 0,
    reason: null,
    nextTry: null,
  };
}

const NOTHING = { rows: 0, clicks: 0, impressions: 0, digest: NO_ROWS, cutOff: false };

/** The state of a day that could not be fetched; its stored rows stay. */
export function failedDay(
  table: DayTable,
  day: Day,
  before: SyncDay | undefined,
  reason: string,
  now: Microseconds,
): SyncDay {
  const attempts = (before?.attempts ?? 0) + 1;
  const pause = pauseAfter(attempts, { first: FIRST_PAUSE, max: MAX_PAUSE });
  const nextTry = now + toMicroseconds(pause);
  const known = before ?? { ...NOTHING, table, day, state: 'failed', final: false, compared: 0, fetchedAt: 0 };
  return { ...known, attempts, reason, nextTry };
}

/** The latest comparison age that a day has reached today; 0 for none. */
export function comparedAt(day: Day, today: Day): number {
  const age = countDays(day, today) - 1;
  return COMPARED_AT.find((at) => age >= at) ?? 0;
}

export function byTable(days: readonly SyncDay[]): Map<DayTable, Map<Day, SyncDay>> {
  const tables = new Map<DayTable, Map<Day, SyncDay>>();
  for (const day of days) addDay(tables, day);
  return tables;
}

export function addDay(tables: Map<DayTable, Map<Day, SyncDay>>, day: SyncDay): void {
  const table = day.table as DayTable;
  const known = tables.get(table) ?? new Map<Day, SyncDay>();
  tables.set(table, known.set(day.day, day));
}
