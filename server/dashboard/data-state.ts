import { type Coverage, filesOf, manifestOf, readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import { listSurfaceDays, listSyncDays, type SyncDay } from '../catalog/sync-days.ts';
import { addDays, type Day, dayOf, eachDay, earlier, later } from '../domain/dates.ts';
import { isStale } from '../domain/finality.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import { EVERY_DAY, MAX_DAYS } from '../domain/range.ts';
import { daySums } from '../facts/days.ts';
import { EVERY_ROW } from '../facts/sums.ts';
import { SURFACES } from '../model/surfaces.ts';
import { FACT_TABLES, type FactTable, PERIOD_TABLES, TABLES, WEEKLY_TABLES } from '../model/tables.ts';
import type { PresetSources } from '../presets/preset.ts';
import { readSyncStatus } from '../sync/status.ts';

/**
 * What is stored of a day. `final`: rows, or none on purpose; `provisional`: it may change; `cut_off`: the provider left out
 * rows; `missing`: a gap between stored days; `absent`: before the first stored day or after the last.
 */
type DayState = 'final' | 'provisional' | 'cut_off' | 'failed' | 'missing' | 'absent';

interface TableState {
  readonly table: FactTable;
  readonly firstDay: Day;
  readonly lastDay: Day;
  readonly rows: number;
  /** Days in a row in the same state, oldest first, from the first day of the calendar to the last. */
  readonly runs: readonly { readonly from: Day; readonly to: Day; readonly state: DayState }[];
}

interface DataQuestion {
  readonly project: Project;
  /** Only owners see why a sync failed. */
  readonly isOwner: boolean;
  readonly signal: AbortSignal;
}

/** Which days of each table are stored, and how the sync stands. */
export async function readDataState(sources: PresetSources, { project, isOwner, signal }: DataQuestion) {
  const { catalog, now } = sources;
  const [coverage, syncDays, sync, surfaces] = await Promise.all([
    readCoverage(catalog, project.id),
    listSyncDays(catalog, project.id),
    readSyncStatus(catalog, project.id, now()),
    listSurfaceDays(catalog, project),
  ]);
  const stored = FACT_TABLES.filter((table) => coverage[table] !== undefined);
  const calendar = calendarOf(
    project,
    stored.map((table) => coverage[table]!),
  );
  const tables = await Promise.all(
    (calendar === null ? [] : stored).map(async (table): Promise<TableState> => {
      const known = syncDays.filter((day) => day.table === table);
      const stateOf =
        known.length > 0
          ? syncedState(table, known)
          : await loadedState(sources, { project, table, calendar: calendar!, signal });
      const { lastDay, rows } = coverage[table]!;
      const firstDay = addDays(coverage[table]!.firstDay, 1 - daysOf(table));
      const isCovered = (day: Day): boolean => day >= firstDay && day <= lastDay;
      const covered: StateOf = (day) => {
        const state = stateOf(day);
        return state === 'missing' && !isCovered(day) ? 'absent' : state;
      };
      return { table, firstDay, lastDay, rows, runs: runsOf(calendar!, covered) };
    }),
  );
  const compared = syncDays.filter((day) => day.compared > 0).map(({ day }) => day);
  return {
    calendar,
    provisionalAfter: project.provisionalAfter,
    tables,
    /** Surfaces that have reported nothing for more than two weeks. */
    stale: surfaces
      .filter(({ lastDay }) => isStale(lastDay, dayOf(now())))
      .map(({ surface, lastDay }) => ({ name: SURFACES[surface].label, lastDay })),
    /** The last day that was compared with the provider. */
    reconciledThrough: compared.length === 0 ? null : compared.reduce(later),
    sync: sync && {
      status: sync.status,
      lastRun: isoInstantOrNull(sync.lastRun),
      nextRun: sync.nextRun === null ? null : isoInstant(sync.nextRun),
      backfill: sync.backfill,
      error: isOwner ? sync.lastError : null,
    },
  };
}

/** The days that are stored in any table, at most the last ones that the API answers; null where none are. */
function calendarOf({ syncedThrough }: Project, stored: readonly Coverage[]): { from: Day; to: Day } | null {
  if (stored.length === 0) return null;
  const to = syncedThrough ?? stored.map(({ lastDay }) => lastDay).reduce(later);
  const from = stored.map(({ firstDay }) => firstDay).reduce(earlier, to);
  return { from: later(from, addDays(to, 1 - MAX_DAYS)), to };
}

type StateOf = (day: Day) => DayState;

/** Whether its engine says which days may still change. */
function hasProvisionalDays(table: FactTable): boolean {
  return SURFACES[TABLES[table].surface].engine === 'google';
}

/** How many days a stored day of a table stands for: weeks are stored by their last one. */
function daysOf(table: FactTable): number {
  return WEEKLY_TABLES.includes(table) ? 7 : 1;
}

/** The days that a stored day of a table stands for. */
function daysUntil(table: FactTable, last: Day): readonly Day[] {
  return eachDay(addDays(last, 1 - daysOf(table)), last);
}

function syncedState(table: FactTable, days: readonly SyncDay[]): StateOf {
  const byDay = new Map(days.flatMap((known) => daysUntil(table, known.day).map((day) => [day, known] as const)));
  return (day) => {
    const known = byDay.get(day);
    if (known === undefined) return 'missing';
    if (known.state === 'failed') return 'failed';
    if (known.cutOff) return 'cut_off';
    return known.final || !hasProvisionalDays(table) ? 'final' : 'provisional';
  };
}

/** Loaded days are known by their rows only: a day without rows may be an empty one. */
async function loadedState(
  { catalog, facts }: PresetSources,
  {
    project,
    table,
    calendar,
    signal,
  }: { project: Project; table: FactTable; calendar: { from: Day; to: Day }; signal: AbortSignal },
): Promise<StateOf> {
  const { provisionalAfter } = project;
  const isMonthly = table === 'country_monthly';
  const files = await filesOf(catalog, project.id, TABLES[table].rollups?.all ?? table, calendar);
  const query = { files, range: calendar, signal };
  const read = async (): Promise<readonly string[]> => {
    if (isMonthly) return (await daySums(facts, query, { table, test: EVERY_ROW })).map(({ date }) => date.slice(0, 7));
    if (PERIOD_TABLES.includes(table)) {
      const lists = await manifestOf(catalog, project.id, table, EVERY_DAY);
      return lists.flatMap(({ firstDay, lastDay }) => eachDay(firstDay, lastDay));
    }
    if (!WEEKLY_TABLES.includes(table)) return facts.storedDays(query);
    return (await daySums(facts, query, { table, test: EVERY_ROW })).flatMap(({ date }) => daysUntil(table, date));
  };
  const known = new Set(await read());
  return (day) => {
    if (!known.has(isMonthly ? day.slice(0, 7) : day)) return 'missing';
    const mayChange = provisionalAfter !== null && day > provisionalAfter && hasProvisionalDays(table);
    return mayChange ? 'provisional' : 'final';
  };
}

function runsOf({ from, to }: { from: Day; to: Day }, stateOf: StateOf): TableState['runs'] {
  const runs: { from: Day; to: Day; state: DayState }[] = [];
  for (const day of eachDay(from, to)) {
    const state = stateOf(day);
    const run = runs.at(-1);
    if (run?.state === state) run.to = day;
    else runs.push({ from: day, to: day, state });
  }
  return runs;
}
