import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, filesOf, manifestOf, readCoverage } from '../catalog/manifest.ts';
import {
  listSyncKeywords,
  putSyncDays,
  putSyncKeywords,
  type SyncDay,
  type SyncKeyword,
} from '../catalog/sync-days.ts';
import { listKeywordIds, putSyncState, raiseEntityRevisions, type SyncState } from '../catalog/sync-projects.ts';
import { type Day, eachDay, earlier, lastDayOf, later, type Month, monthOf, monthsEarlier } from '../domain/dates.ts';
import { EVERY_DAY, HISTORY_MONTHS, type Range } from '../domain/range.ts';
import type { Engine, Session } from '../facts/duckdb/engine.ts';
import { loadSnapshot } from '../load/load.ts';
import type { KnownDays } from '../load/part-files.ts';
import type { Stores } from '../load/stores.ts';
import { FACTS, identifiers } from '../load/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { FileStore, OpenFiles, StoredFile } from '../storage/file-store.ts';
import { openFileStore } from '../storage/open-file-store.ts';
import type { StorageSettings } from '../storage/storage-settings.ts';
import { writeCountryMonths } from './country-months.ts';
import type { FetchedWindow } from './fetch.ts';
import { coverageAfter } from './keyword-coverage.ts';
import type { SyncWindow } from './plan.ts';
import { addDay, byTable, type DaysByTable, publishedDays } from './published-days.ts';
import { KEYWORD_TABLES, type SyncTable } from './tables.ts';

export interface PublishInput extends Stores {
  readonly engine: () => Promise<Engine>;
  readonly project: string;
  readonly window: SyncWindow;
  readonly fetched: FetchedWindow;
  /** Previously published days. */
  readonly days: DaysByTable;
  /** The days to sync; the last one is today. */
  readonly syncRange: Range;
  readonly today: Day;
  readonly finalThrough: Day;
  /** Country days up to this day are stored by month. */
  readonly monthsThrough: Day;
  /** Days that are stored again even if unchanged. */
  readonly again: ReadonlySet<Day>;
  /** Milliseconds. */
  readonly now: number;
  /** Whether later windows would rewrite the cumulative totals of keywords. */
  readonly deferCumulative: boolean;
  /** The project state after the publication. */
  readonly stateAfter: (days: DaysByTable) => Partial<SyncState>;
  /** Writes further rows in the same transaction. */
  readonly alongside?: (own: Catalog) => Promise<void>;
}

/**
 * Publishes a window in one transaction: its facts, the state of its days, and the project state. Unchanged days are not
 * written again.
 * @returns the state of the days of the window
 */
export async function publishWindow(input: PublishInput): Promise<readonly SyncDay[]> {
  const { settings, catalog, engine, project } = input;
  const days = publishedDays(input);
  const after = byTable([...input.days.values()].flatMap((ofTable) => [...ofTable.values()]));
  for (const day of days) addDay(after, day);
  const changed = await changedDays(input, days);
  const write = async (own: Catalog): Promise<readonly string[]> => {
    await putSyncDays(own, project, days);
    await putSyncKeywords(own, project, await fetchedKeywords(own, input));
    await input.alongside?.(own);
    const isOutdated = await putSyncState(own, project, input.stateAfter(after));
    // Answers say which days are without rows, failed or cut off.
    return isOutdated || days.some((day) => isNews(input.days.get(day.table as SyncTable)?.get(day.day), day))
      ? [project]
      : [];
  };
  if (changed.size === 0 && !(await isMonthDue(input, after))) {
    await catalog.transaction(async (own) => raiseEntityRevisions(own, await write(own)));
    return days;
  }
  const makeSnapshot = (folder: string): Promise<KnownDays> => writeSnapshot(input, { folder, changed, after });
  // The provider occasionally returns rows with more clicks than impressions.
  const how = { acceptImplausible: true, trusted: true, deferCumulative: input.deferCumulative };
  await loadSnapshot({ settings, catalog }, { ...how, projects: [project], makeSnapshot, engine, alongside: write });
  return days;
}

/** Whether more changed about a day than its rows. */
function isNews(before: SyncDay | undefined, { state, cutOff }: SyncDay): boolean {
  if (before === undefined) return state !== 'done' || cutOff;
  return before.state !== state || before.cutOff !== cutOff;
}

/** The new or changed days of each table. */
async function changedDays(
  { catalog, project, fetched: { files }, days, today, again }: PublishInput,
  published: readonly SyncDay[],
): Promise<Map<SyncTable, Day[]>> {
  const changed = new Map<SyncTable, Day[]>();
  const stored = await readCoverage(catalog, project);
  // The API returns some days beyond its history. There a day without rows may simply have been deleted.
  const kept = monthsEarlier(today, HISTORY_MONTHS);
  for (const { table: name, day, digest } of published) {
    const table = name as SyncTable;
    const found = files.of(table).get(day);
    const before = days.get(table)?.get(day);
    if (found === undefined) continue;
    if (before?.state !== 'failed' && before?.digest === digest && !again.has(day)) continue;
    const span = stored[table];
    if (before === undefined && found.rows === 0 && (span === undefined || day < span.firstDay || day > span.lastDay))
      continue;
    if (found.rows === 0 && day < kept && (files.of('site_daily').get(day)?.rows ?? 0) === 0) continue;
    const ofTable = changed.get(table);
    if (ofTable === undefined) changed.set(table, [day]);
    else ofTable.push(day);
  }
  return changed;
}

/** The coverage of the keywords of a window after its publication. */
async function fetchedKeywords(own: Catalog, { project, window, fetched, days }: PublishInput): Promise<SyncKeyword[]> {
  const dayQueries = window.dayQueries.filter(({ table }) => table === 'keyword_daily' && !fetched.failures.has(table));
  if (dayQueries.length === 0) return [];
  const known = [...(days.get('keyword_daily')?.values() ?? [])];
  const published = new Set(known.filter(({ state }) => state !== 'failed').map(({ day }) => day));
  const before = await listSyncKeywords(own, project);
  let coverage: ReadonlyMap<string, SyncKeyword> = new Map(before.map((keyword) => [keyword.id, keyword]));
  for (const dayQuery of dayQueries.toReversed()) coverage = coverageAfter(coverage, dayQuery, published);
  const requested = new Set(dayQueries.flatMap(({ keywords }) => keywords.map(({ id }) => id)));
  return [...coverage.values()].filter(({ id }) => requested.has(id));
}

/** Whether all country days of a month are published. */
function isWholeMonth(
  month: Month,
  { syncRange, monthsThrough }: Pick<PublishInput, 'syncRange' | 'monthsThrough'>,
  after: DaysByTable,
): boolean {
  if (lastDayOf(month) > monthsThrough) return false;
  const days = after.get('country_daily');
  const range = { from: later(`${month}-01`, syncRange.from), to: lastDayOf(month) };
  return eachDay(range.from, range.to).every((day) => (days?.get(day)?.state ?? 'failed') !== 'failed');
}

/** Whether the oldest stored country days can be aggregated to a month. */
async function isMonthDue(input: PublishInput, after: DaysByTable): Promise<boolean> {
  const [first] = await manifestOf(input.catalog, input.project, 'country_daily', EVERY_DAY);
  return first !== undefined && isWholeMonth(monthOf(first.firstDay), input, after);
}

interface Snapshot {
  readonly folder: string;
  readonly changed: ReadonlyMap<SyncTable, readonly Day[]>;
  readonly after: DaysByTable;
}

/** Writes the changes of a window as a snapshot. Requires the load lock. */
async function writeSnapshot(input: PublishInput, { folder, changed, after }: Snapshot): Promise<KnownDays> {
  const { project, fetched } = input;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await using own = new OwnSession(input);
  const known: Partial<Record<FactTable, readonly Day[]>> = {};
  for (const [table, days] of changed) {
    if (table === 'country_daily') continue;
    known[table] = days;
    await fetched.files.moveTo(folder, table, days);
    if (KEYWORD_TABLES.includes(table)) await keepOtherKeywords(input, own, { table, days, folder });
  }
  return { project, days: { ...known, ...(await writeCountries(input, own, { folder, changed, after })) } };
}

/** Writes country days, and aggregates old ones to months. */
async function writeCountries(
  { catalog, project, fetched: { files }, ...input }: PublishInput,
  own: OwnSession,
  { folder, changed, after }: Snapshot,
): Promise<KnownDays['days']> {
  const { monthsThrough } = input;
  const changedDays = changed.get('country_daily') ?? [];
  const old = { ...EVERY_DAY, to: monthsThrough };
  const stored = (await manifestOf(catalog, project, 'country_daily', old)).filter(
    ({ firstDay }) => firstDay <= monthsThrough,
  );
  const requested = [...files.of('country_daily').keys()].filter((day) => day <= monthsThrough);
  const isWhole = (month: Month): boolean => isWholeMonth(month, input, after);
  const { months, days } =
    stored.length + requested.length === 0
      ? { months: [], days: [] }
      : await writeCountryMonths(await own.session(), {
          project,
          stored: await own.open(stored),
          fetched: files.files('country_daily', requested),
          replaced: requested,
          through: monthsThrough,
          isWhole,
          target: join(folder, 'country_monthly.parquet'),
        });
  if (changedDays.length + days.length === 0) return {};
  const daily = changedDays.filter((day) => !months.includes(monthOf(day)));
  await files.moveTo(folder, 'country_daily', daily);
  const firstDays = months.map((month) => `${month}-01`);
  return {
    country_daily: [...new Set([...changedDays, ...days])],
    ...(months.length === 0 ? {} : { country_monthly: firstDays }),
  };
}

/** A load replaces whole days, so stored rows of keywords outside the window are copied. */
async function keepOtherKeywords(
  { catalog, project, window }: PublishInput,
  own: OwnSession,
  { table, days, folder }: { table: SyncTable; days: readonly Day[]; folder: string },
): Promise<void> {
  const requested = new Set(
    window.dayQueries
      .filter((dayQuery) => dayQuery.table === table)
      .flatMap(({ keywords }) => keywords.map(({ id }) => id)),
  );
  const others = (await listKeywordIds(catalog, project)).filter((id) => !requested.has(id));
  const stored = await filesOf(catalog, project, table, { from: days.reduce(earlier), to: days.reduce(later) });
  if (others.length === 0 || stored.length === 0) return;
  const { columns } = FACTS.find(({ name }) => name === table)!;
  const names = columns.map(({ name }) => name).filter((name) => name !== 'project_id');
  const target = join(folder, table, 'kept.parquet');
  const parameters = { files: await own.open(stored), project, days, keywords: others, target };
  await (await own.session()).run(sqlTemplate('sync/kept_keyword_rows', { columns: identifiers(names) }), parameters);
}

/** A session over stored facts and staged rows, opened on first use. */
class OwnSession {
  readonly #settings: StorageSettings;
  readonly #engine: () => Promise<Engine>;
  readonly #opened = new AsyncDisposableStack();
  #session: Session | undefined;
  #files: FileStore | undefined;

  constructor({ settings, engine }: PublishInput) {
    this.#settings = settings;
    this.#engine = engine;
  }

  async session(): Promise<Session> {
    this.#session ??= this.#opened.use(await (await this.#engine()).session());
    return this.#session;
  }

  /** Opens stored files for the time of the session. */
  async open(files: readonly StoredFile[]): Promise<OpenFiles['paths']> {
    this.#files ??= this.#opened.use(await openFileStore(this.#settings));
    return this.#opened.use(await this.#files.open(files)).paths;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}
