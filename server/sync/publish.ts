import type { Catalog } from '../catalog/catalog.ts';
import { manifestOf, readCoverage } from '../catalog/fact-files.ts';
import { fillKeywordGaps } from '../catalog/keywords.ts';
import {
  type FetchedKeyword,
  listFetchedKeywords,
  putSyncDays,
  putSyncKeywords,
  type SyncDay,
} from '../catalog/sync-days.ts';
import { putSyncState, raiseEntityRevisions, type SyncState } from '../catalog/sync-projects.ts';
import { type Day, eachDay, lastDayOf, later, type Month, monthOf, monthsEarlier } from '../domain/dates.ts';
import { EVERY_DAY, HISTORY_MONTHS, type Range } from '../domain/range.ts';
import type { DayFiles } from './day-files.ts';
import { addDay, byTable, type DaysByTable, statesAfter } from './day-states.ts';
import type { FetchedWindow } from './fetch.ts';
import { coverageAfter } from './keyword-coverage.ts';
import { type GatherInput, gatherDays } from './new-days.ts';
import type { SyncWindow } from './plan.ts';
import type { SyncStores } from './run-options.ts';
import type { DayTable, SyncTable } from './tables.ts';

type PublicationStores = Pick<SyncStores, 'catalog' | 'publisher'>;

/** The input of each publication of a run. */
export interface Publication {
  readonly stores: PublicationStores;
  readonly project: string;
  /** The states of days before. */
  readonly days: DaysByTable;
  /** The days to sync; the last one is today. */
  readonly syncRange: Range;
  /** Country days up to this day are stored by month. */
  readonly monthsThrough: Day;
  /** The project state after the publication. */
  readonly stateAfter: (days: DaysByTable) => Partial<SyncState>;
  /** Writes further rows in the same transaction, after the state of the project. */
  readonly inTransaction: (tx: Catalog) => Promise<void>;
}

export interface WindowPublication extends Publication {
  readonly window: SyncWindow;
  readonly fetched: FetchedWindow;
  readonly today: Day;
  readonly provisionalAfter: Day;
  /** Days that are stored even if unchanged. */
  readonly forcedDays: ReadonlySet<Day>;
  /** Milliseconds. */
  readonly now: number;
  /** Whether later windows would rewrite the cumulative totals of keywords. */
  readonly deferCumulative: boolean;
}

/**
 * Publishes a window in one transaction: its facts, the state of its days, and the project state. Unchanged days are not
 * written again.
 * @returns the new states of the days of the window
 */
export async function publishWindow(publication: WindowPublication): Promise<readonly SyncDay[]> {
  const { project, days, window, fetched, deferCumulative } = publication;
  const states = statesAfter(publication);
  const after = byTable([...days.values()].flatMap((ofTable) => [...ofTable.values()]));
  for (const day of states) addDay(after, day);
  const changed = await changedDays(publication, states);
  const write = async (tx: Catalog): Promise<boolean> => {
    await putSyncDays(tx, project, states);
    const keywords = await changedKeywords(tx, publication);
    await putSyncKeywords(tx, project, keywords);
    const filled = await fillFetched(tx, publication);
    const isOutdated = await putState(tx, publication, after);
    // Reports contain which days are empty, failed or cut off, and which days keywords lack.
    const isReported = (day: SyncDay): boolean => hasNewState(days.get(day.table as SyncTable)?.get(day.day), day);
    return isOutdated || filled || keywords.length > 0 || states.some(isReported);
  };
  await publish(publication, { after, changed, source: { window, files: fetched.files }, deferCumulative, write });
  return states;
}

/** Publishes the state of the project after the last window, and aggregates country days to months that are due by now. */
export async function publishEnd(publication: Publication): Promise<void> {
  const { days } = publication;
  const write = (tx: Catalog): Promise<boolean> => putState(tx, publication, days);
  await publish(publication, { after: days, changed: new Map(), source: {}, deferCumulative: false, write });
}

interface Changes extends Pick<WindowPublication, 'deferCumulative'> {
  /** The states of days after the publication. */
  readonly after: DaysByTable;
  /** The changed days of each table. */
  readonly changed: ReadonlyMap<SyncTable, readonly Day[]>;
  readonly source: Pick<GatherInput, 'window' | 'files'>;
  /** Writes the rows of the catalog. Returns whether cached reports may change. */
  readonly write: (tx: Catalog) => Promise<boolean>;
}

/** Publishes changed days, and country days that have become months; only catalog rows if there are none. */
async function publish(publication: Publication, changes: Changes): Promise<void> {
  const { stores, project } = publication;
  const { after, changed, source, deferCumulative, write } = changes;
  const isComplete = (month: Month): boolean => isCompleteMonth(month, publication, after);
  if (changed.size === 0 && !(await isMonthDue(publication, isComplete))) {
    await stores.catalog.transaction(async (tx) => raiseEntityRevisions(tx, (await write(tx)) ? [project] : []));
    return;
  }
  const newDays = gatherDays({ ...publication, ...source, catalog: stores.catalog }, changed, isComplete);
  await stores.publisher.publishDays({ project, newDays, deferCumulative, inTransaction: write });
}

/** Returns whether cached reports may change. */
async function putState(
  tx: Catalog,
  { project, inTransaction, stateAfter }: Publication,
  days: DaysByTable,
): Promise<boolean> {
  const isChanged = await putSyncState(tx, project, stateAfter(days));
  await inTransaction(tx);
  return isChanged;
}

/** Whether more than the rows of a day changed. */
function hasNewState(before: SyncDay | undefined, { state, cutOff }: SyncDay): boolean {
  if (before === undefined) return state !== 'done' || cutOff;
  return before.state !== state || before.cutOff !== cutOff;
}

/** The new or changed days of each table. */
async function changedDays(
  { stores: { catalog }, project, fetched: { files }, days, today, forcedDays }: WindowPublication,
  states: readonly SyncDay[],
): Promise<Map<SyncTable, Day[]>> {
  const changed = new Map<SyncTable, Day[]>();
  const stored = await readCoverage(catalog, project);
  // The API returns some days beyond its history. There a day without rows may simply have been deleted.
  const kept = monthsEarlier(today, HISTORY_MONTHS);
  for (const { table: name, day, digest } of states) {
    const table = name as SyncTable;
    const found = files.days(table).get(day);
    const before = days.get(table)?.get(day);
    if (found === undefined) continue;
    if (before?.state !== 'failed' && before?.digest === digest && !forcedDays.has(day)) continue;
    const span = stored[table];
    if (before === undefined && found.rows === 0 && (span === undefined || day < span.firstDay || day > span.lastDay))
      continue;
    if (found.rows === 0 && day < kept && (files.days('site_daily').get(day)?.rows ?? 0) === 0) continue;
    const ofTable = changed.get(table);
    if (ofTable === undefined) changed.set(table, [day]);
    else ofTable.push(day);
  }
  return changed;
}

/** What a window has fetched of keywords. */
function keywordQueries({ window, fetched }: Pick<WindowPublication, 'window' | 'fetched'>) {
  return window.dayQueries.filter(({ table }) => table === 'keyword_daily' && !fetched.failures.has(table));
}

/** The days of a window are known of its keywords. Returns whether any of them was not before. */
async function fillFetched(tx: Catalog, { project, ...publication }: WindowPublication): Promise<boolean> {
  let isFilled = false;
  for (const { from, to, keywords } of keywordQueries(publication)) {
    const ids = new Set(keywords.map(({ id }) => id));
    isFilled = (await fillKeywordGaps(tx, project, [{ from, to }], ids)).length > 0 || isFilled;
  }
  return isFilled;
}

/** The keywords of a window whose coverage its publication changes. */
async function changedKeywords(
  tx: Catalog,
  { project, window, fetched, days }: WindowPublication,
): Promise<FetchedKeyword[]> {
  const dayQueries = keywordQueries({ window, fetched });
  if (dayQueries.length === 0) return [];
  const known = [...(days.get('keyword_daily')?.values() ?? [])];
  const published = new Set(known.filter(({ state }) => state !== 'failed').map(({ day }) => day));
  const before = new Map((await listFetchedKeywords(tx, project)).map((keyword) => [keyword.id, keyword]));
  let coverage: ReadonlyMap<string, FetchedKeyword> = before;
  for (const dayQuery of dayQueries.toReversed()) coverage = coverageAfter(coverage, dayQuery, published);
  return [...coverage.values()].filter((now) => {
    const old = before.get(now.id);
    return old?.query !== now.query || old.from !== now.from || old.to !== now.to;
  });
}

/** Whether all country days of a month are published. */
function isCompleteMonth(month: Month, { syncRange, monthsThrough }: Publication, after: DaysByTable): boolean {
  if (lastDayOf(month) > monthsThrough) return false;
  const days = after.get('country_daily');
  const range = { from: later(`${month}-01`, syncRange.from), to: lastDayOf(month) };
  return eachDay(range.from, range.to).every((day) => (days?.get(day)?.state ?? 'failed') !== 'failed');
}

/** Whether the oldest stored country days can be aggregated to a month. */
async function isMonthDue(
  { stores: { catalog }, project }: Publication,
  isComplete: (month: Month) => boolean,
): Promise<boolean> {
  const [first] = await manifestOf(catalog, project, 'country_daily', EVERY_DAY);
  return first !== undefined && isComplete(monthOf(first.firstDay));
}

interface FetchedTables {
  readonly files: DayFiles;
  /** The new states of the fetched days. */
  readonly states: readonly SyncDay[];
  /** The state of a day before. */
  readonly before: (day: SyncDay) => SyncDay | undefined;
  /** Tables whose stored days have no state, so that days without rows may replace some. */
  readonly replaced?: ReadonlySet<string>;
  /** Returns whether cached reports may change. */
  readonly inTransaction?: (tx: Catalog) => Promise<boolean>;
}

/**
 * Replaces the changed days of tables that no window has, in one transaction with their states. Without a changed day
 * only the states are written.
 */
export async function publishFetched(
  stores: PublicationStores,
  project: string,
  { files, states, before, replaced = new Set(), inTransaction }: FetchedTables,
): Promise<void> {
  const changed = states.filter((day) => {
    const stored = before(day);
    return stored === undefined || stored.state === 'failed'
      ? day.rows > 0 || stored !== undefined || replaced.has(day.table)
      : stored.digest !== day.digest;
  });
  const write = async (tx: Catalog): Promise<boolean> => {
    await putSyncDays(tx, project, states);
    // Reports end with the last reported day, and contain which days are empty or failed.
    const isReported = states.some((day) => hasNewState(before(day), day));
    return (await inTransaction?.(tx)) === true || isReported;
  };
  if (changed.length === 0) {
    await stores.catalog.transaction(async (tx) => raiseEntityRevisions(tx, (await write(tx)) ? [project] : []));
    return;
  }
  const changedByTable = [...Map.groupBy(changed, ({ table }) => table as DayTable)];
  const newDays = async () =>
    changedByTable.map(([table, ofTable]) => {
      const days = ofTable.map(({ day }) => day);
      return { table, days, files: files.paths(table, days) };
    });
  await stores.publisher.publishDays({ project, newDays, inTransaction: write });
}
