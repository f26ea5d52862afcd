import { join } from 'node:path';
import { type Connection, connectionsOf } from '../catalog/connections.ts';
import { readCoverage } from '../catalog/fact-files.ts';
import { storeCrawlDays } from '../catalog/inspections.ts';
import type { Project } from '../catalog/projects.ts';
import { putSyncDays, reasonOfProvider, type SyncDay } from '../catalog/sync-days.ts';
import { cacheKey } from '../domain/cache-key.ts';
import { addDays, type Day, earlier, later, pacificDayOf, WEEK, weekdayOf } from '../domain/dates.ts';
import { factDayTest } from '../domain/fact-days.ts';
import { isNonblank, isUrl } from '../domain/fact-values.ts';
import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { LoadRejected } from '../domain/problems.ts';
import { type FactTable, grainOf } from '../model/tables.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { ProviderJob } from '../providers/gateway.ts';
import type { ConnectedProvider, Provider, WholeTableRow } from '../providers/provider.ts';
import { DayFiles } from './day-files.ts';
import { type DaysByTable, failedDay, fetchedState } from './day-states.ts';
import { publishFetched } from './publish.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

export interface WholeTablesInput {
  readonly project: Project;
  /** The stored states of all tables. */
  readonly days: DaysByTable;
  readonly now: Microseconds;
  /** Earlier days are not kept; null for all. */
  readonly keptFrom: Day | null;
  /** Tables fetched before this instant are fetched again. */
  readonly staleBefore: Microseconds;
}

/**
 * Fetches the whole tables of the other connections of a project, and publishes the changed days or weeks of each provider in
 * one transaction with their states, which it returns. What a provider no longer keeps stays stored. A failure is stored as the
 * state of a day: it must not end the sync of the reporting API.
 */
export async function syncWholeTables(
  stores: SyncStores,
  options: Pick<SyncOptions, 'signal' | 'onWait'>,
  input: WholeTablesInput,
): Promise<readonly SyncDay[]> {
  const connections = await connectionsOf(stores.catalog, input.project.id);
  const states: SyncDay[] = [];
  for (const provider of stores.providers) {
    const { wholeTables = [] } = provider;
    const connection = connections.find(({ kind }) => kind === provider.kind);
    if (connection === undefined) states.push(...(await forgetFailures(stores, input, wholeTables)));
    else states.push(...(await syncProvider(stores, options, input, { provider, connection })));
  }
  return states;
}

interface ProviderConnection {
  readonly provider: Provider;
  readonly connection: Connection;
}

async function syncProvider(
  stores: SyncStores,
  options: Pick<SyncOptions, 'signal' | 'onWait'>,
  input: WholeTablesInput,
  { provider, connection }: ProviderConnection,
): Promise<readonly SyncDay[]> {
  const due = (provider.wholeTables ?? []).filter((table) => isDue(daysOf(input, table), input));
  if (due.length === 0) return [];
  const { property, id } = input.project;
  const files = new DayFiles(join(stores.folder, newUuid()), id);
  const stored = await readCoverage(stores.catalog, id);
  try {
    const client = stores.connect(provider, connection);
    const job: ProviderJob = {
      provider: provider.kind,
      property,
      limited: await client.limitedBy?.(),
      demand: () => 'background',
      retryShare: 1,
      pauseAfterFailure: 0,
      what: 'windows',
      line: { project: id },
      onSlow: () => options.onWait?.('waiting for the provider'),
    };
    const fetched = await stores.gateway.run(
      job,
      async (run) => {
        const all: SyncDay[] = [];
        const failed: SyncDay[] = [];
        const isFactDay = factDayTest(input.now / 1000);
        // Days come first: a week that begins before them may be cut off.
        const ofDays = provider.wholeTables!.find((table) => grainOf(table) === 'day');
        let first = ofDays && [...daysOf(input, ofDays).keys()].reduce(earlier, '9');
        for (const table of due) {
          options.signal.throwIfAborted();
          try {
            const returned = await client.fetchWholeTable!(table, property, run);
            const rows = returned.filter((row) => isFactDay(row.day) && isFact(row));
            if (grainOf(table) === 'week') checkWeekdays(table, stored[table]?.lastDay, rows);
            else first = rows.map(({ day }) => day).reduce(earlier, first!);
            all.push(...(await take(files, input, { table, rows, first })));
          } catch (error) {
            if (!(error instanceof ProviderFailure) || error.kind !== 'broken' || error.passing) throw error;
            failed.push(failureOf(provider, table, error, input));
          }
        }
        return { all, failed };
      },
      ({ all }) => ({ rows: all.reduce((sum, { rows }) => sum + rows, 0) }),
    );
    // Before the states of the tables, so that the next run fetches both again if this one is killed in between.
    await syncCrawl(stores, job, client, input);
    const states = [...fetched.all, ...fetched.failed];
    await publishFetched(stores, id, {
      files,
      states,
      before: ({ table, day }) => daysOf(input, table).get(day),
    });
    return states;
  } catch (error) {
    const isRejected = error instanceof LoadRejected;
    if (!(error instanceof ProviderFailure || isRejected) || stores.gateway.stopped.aborted) throw error;
    // Its key was replaced or it was removed meanwhile: this says nothing of the present one.
    const now = (await connectionsOf(stores.catalog, id)).find(({ kind }) => kind === connection.kind);
    if (now === undefined) return [];
    if (cacheKey(now) !== cacheKey(connection))
      return await syncProvider(stores, options, input, { provider, connection: now });
    const failed = [failureOf(provider, due[0]!, error, input)];
    await stores.catalog.transaction((tx) => putSyncDays(tx, id, failed));
    return failed;
  } finally {
    await files.remove();
  }
}

/** The failure of a table, as the state of its last day, or of yesterday. */
function failureOf(
  { kind }: Provider,
  table: FactTable,
  error: ProviderFailure | LoadRejected,
  input: WholeTablesInput,
): SyncDay {
  const known = daysOf(input, table);
  const day = [...known.keys()].reduce(later, addDays(pacificDayOf(input.now / 1000), -1));
  const isLost = error instanceof ProviderFailure && error.kind === 'access-lost';
  return failedDay(table, day, known.get(day), reasonOfProvider(kind, error.message, isLost), input.now);
}

/** Stores the days of the provider's crawler. After a failure the next run fetches the same days. */
async function syncCrawl(
  { catalog, gateway }: SyncStores,
  job: ProviderJob,
  client: ConnectedProvider,
  { project: { id, property }, keptFrom, now }: WholeTablesInput,
): Promise<void> {
  if (client.fetchCrawl === undefined) return;
  try {
    const { days } = await gateway.run(
      { ...job, what: 'crawl' },
      (run) => client.fetchCrawl!(property, null, run),
      (crawl) => ({ days: crawl.days.length }),
    );
    await storeCrawlDays(catalog, { project: id, property }, days, { keptFrom, now });
  } catch (error) {
    if (!(error instanceof ProviderFailure) || gateway.stopped.aborted) throw error;
  }
}

interface FetchedTable {
  readonly table: FactTable;
  readonly rows: readonly WholeTableRow[];
  /** The first known day. */
  readonly first: Day | undefined;
}

/** Writes the rows of a table to files. Returns the new states of its days or weeks. */
async function take(
  files: DayFiles,
  input: WholeTablesInput,
  { table, rows, first }: FetchedTable,
): Promise<SyncDay[]> {
  const known = daysOf(input, table);
  const isCut = (day: Day): boolean =>
    grainOf(table) === 'week' && first !== undefined && addDays(day, 1 - WEEK) < first;
  const oldest = rows.map(({ day }) => day).reduce(earlier, '9');
  const ofOldest = rows.reduce((sum, { day, impressions }) => sum + (day === oldest ? impressions : 0), 0);
  // The oldest one may be about to be forgotten: then the stored one is more complete.
  const isKept = (day: Day): boolean => day === oldest && (known.get(day)?.impressions ?? -1) >= ofOldest;
  await files.add(
    table,
    rows.filter(({ day }) => day >= (input.keptFrom ?? day) && !isKept(day)),
  );
  const state = { final: false, compared: 0, fetchedAt: input.now };
  const fetched = [...files.days(table)].map(([day, sums]) =>
    fetchedState(table, day, { ...sums, cutOff: isCut(day) }, state),
  );
  const others = [...known.values()].filter(({ day, nextTry }) => nextTry !== null && !files.days(table).has(day));
  return [...fetched, ...others.map((day) => withoutFailure(day, input.now))];
}

/** Throws `ProviderFailure` for weeks that end on another weekday than those stored: days would be in two weeks, and count twice. */
function checkWeekdays(table: FactTable, stored: Day | undefined, rows: readonly WholeTableRow[]): void {
  const other = stored && rows.find(({ day }) => weekdayOf(day) !== weekdayOf(stored))?.day;
  if (other === undefined) return;
  const why = `${table}: the response has a week that ends on ${other}, and a stored one ends on ${stored}, another weekday`;
  throw new ProviderFailure('broken', why, { passing: false });
}

/** Rows that cannot be stored are left out, as those of the reporting API. */
function isFact({ key: { url, query }, sumPosition }: WholeTableRow): boolean {
  return (
    (url === undefined || isUrl(url)) &&
    (query === undefined || isNonblank(query)) &&
    (sumPosition === null || Number.isSafeInteger(sumPosition))
  );
}

/** Clears the failures of a provider without a connection: they would be reported for ever. */
async function forgetFailures(
  { catalog }: SyncStores,
  input: WholeTablesInput,
  wholeTables: readonly FactTable[],
): Promise<readonly SyncDay[]> {
  const stored = wholeTables.flatMap((table) => [...daysOf(input, table).values()]);
  const healed = stored.filter(({ nextTry }) => nextTry !== null).map((day) => withoutFailure(day, day.fetchedAt));
  if (healed.length > 0) await catalog.transaction((tx) => putSyncDays(tx, input.project.id, healed));
  return healed;
}

function withoutFailure(day: SyncDay, fetchedAt: Microseconds): SyncDay {
  return { ...day, fetchedAt, attempts: 0, reason: null, nextTry: null };
}

function isDue(known: ReadonlyMap<Day, SyncDay>, { now, staleBefore }: WholeTablesInput): boolean {
  const days = [...known.values()];
  const nextTry = days.map((day) => day.nextTry).find((at) => at !== null);
  if (nextTry !== undefined) return nextTry <= now;
  return !days.some(({ fetchedAt }) => fetchedAt > staleBefore);
}

function daysOf({ days }: WholeTablesInput, table: FactTable): ReadonlyMap<Day, SyncDay> {
  return days.get(table) ?? new Map();
}
