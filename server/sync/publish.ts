import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.ts';
import { type FactTable, filesOf, manifestOf } from '../catalog/manifest.ts';
import { listSyncKeywords, putSyncDays, putSyncKeywords, type SyncDay, type SyncKeyword } from '../catalog/sync-days.ts';
import { listKeywordIds, putSyncState, raiseEntityRevisions, type SyncState } from '../catalog/sync-projects.ts';
import { type Day, eachDay, earlier, lastDayOf, later, type Month, monthOf, monthsEarlier } from '../domain/dates.ts';
import { EVERY_DAY, type Range } from '../domain/range.ts';
import { Engine } from '../facts/duckdb/engine.ts';
import { loadSnapshot } from '../load/load.ts';
import type { KnownDays } from '../load/part-files.ts';
import { FACTS, identifiers } from '../load/tables.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { Settings } from '../settings.ts';
import { CheckedFiles } from '../storage/checked-files.ts';
import { FactStore } from '../storage/fact-store.ts';
import { writeCountryMonths } from './country-months.ts';
import type { FetchedWindow } from './fetch.ts';
import { coverageAfter } from './keyword-coverage.ts';
import type { SyncWindow } from './plan.ts';
import { addDay, byTable, type DaysByTable, publishedDays } from './published-days.ts';
import { KEYWORD_TABLES, type SyncTable } from './tables.ts';

export interface PublishInput {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly project: string;
  readonly window: SyncWindow;
  readonly fetched: FetchedWindow;
  /** What was published before. */
  readonly days: DaysByTable;
  /** The first and the last day that are wanted; the last one is today. */
  readonly wanted: Range;
  readonly today: Day;
  readonly finalThrough: Day;
  /** Days of countries until this one are kept by months. */
  readonly monthsThrough: Day;
  /** Days that are stored again, also where they came as before. */
  readonly again: ReadonlySet<Day>;
  /** Milliseconds. */
  readonly now: number;
  /** How the project stands once this is published. */
  readonly stateAfter: (days: DaysByTable) => Partial<SyncState>;
  /** Writes further rows in the same transaction. */
  readonly alongside?: (own: Catalog) => Promise<void>;
}

/** The API has been seen to give rows of some days beyond its 16 months. A day without any is not told from one that is gone. */
const HISTORY_MONTHS = 16;

/**
 * Makes a window current: its facts, what is known of its days, and how the project stands, all in one transaction. Days
 * that came as they were fetched before are left alone; where all did, no facts are published.
 * @returns what is known of the days of the window
 */
export async function publishWindow(input: PublishInput): Promise<readonly SyncDay[]> {
  const { settings, catalog, project } = input;
  const days = publishedDays(input);
  const after = byTable([...input.days.values()].flatMap((ofTable) => [...ofTable.values()]));
  for (const day of days) addDay(after, day);
  const changed = changedDays(input, days);
  const write = async (own: Catalog): Promise<readonly string[]> => {
    await putSyncDays(own, project, days);
    await putSyncKeywords(own, project, await fetchedKeywords(own, input));
    await input.alongside?.(own);
    return (await putSyncState(own, project, input.stateAfter(after))) ? [project] : [];
  };
  if (changed.size === 0 && !(await isMonthDue(input, after))) {
    await catalog.longTransaction(async (own) => raiseEntityRevisions(own, await write(own)));
    return days;
  }
  const makeSnapshot = (folder: string): Promise<KnownDays> => writeSnapshot(input, { folder, changed, after });
  // The provider has rows with more clicks than impressions now and then.
  await loadSnapshot({ settings, catalog }, { acceptImplausible: true, makeSnapshot, alongside: write });
  return days;
}

/** The days of each table that are to be stored: those whose rows are others than before, or new. */
function changedDays(
  { fetched: { files }, days, today, again }: PublishInput,
  published: readonly SyncDay[],
): Map<SyncTable, Day[]> {
  const changed = new Map<SyncTable, Day[]>();
  const kept = monthsEarlier(today, HISTORY_MONTHS);
  for (const { table: name, day, digest } of published) {
    const table = name as SyncTable;
    const found = files.of(table).get(day);
    const before = days.get(table)?.get(day);
    if (found === undefined) continue;
    if (before?.state !== 'failed' && before?.digest === digest && !again.has(day)) continue;
    if (found.rows === 0 && day < kept && (files.of('site_daily').get(day)?.rows ?? 0) === 0) continue;
    changed.set(table, [...(changed.get(table) ?? []), day]);
  }
  return changed;
}

/** For which days the keywords of a window are fetched once it is published. */
async function fetchedKeywords(own: Catalog, { project, window, fetched, days }: PublishInput): Promise<SyncKeyword[]> {
  const asks = window.asks.filter(({ table }) => table === 'keyword_daily' && !fetched.failures.has(table));
  if (asks.length === 0) return [];
  const known = [...(days.get('keyword_daily')?.values() ?? [])];
  const published = new Set(known.filter(({ state }) => state !== 'failed').map(({ day }) => day));
  const before = await listSyncKeywords(own, project);
  let coverage: ReadonlyMap<string, SyncKeyword> = new Map(before.map((keyword) => [keyword.id, keyword]));
  for (const ask of asks.toReversed()) coverage = coverageAfter(coverage, ask, published);
  const asked = new Set(asks.flatMap(({ keywords }) => keywords.map(({ id }) => id)));
  return [...coverage.values()].filter(({ id }) => asked.has(id));
}

/** Whether all wanted days of a month of countries are published. */
function isWholeMonth(month: Month, { wanted, monthsThrough }: PublishInput, after: DaysByTable): boolean {
  if (lastDayOf(month) > monthsThrough) return false;
  const days = after.get('country_daily');
  const range = { from: later(`${month}-01`, wanted.from), to: lastDayOf(month) };
  return eachDay(range.from, range.to).every((day) => (days?.get(day)?.state ?? 'failed') !== 'failed');
}

/** Whether the oldest stored days of countries are to become a month. */
async function isMonthDue(input: PublishInput, after: DaysByTable): Promise<boolean> {
  const [first] = manifestOf(input.catalog, input.project, 'country_daily', EVERY_DAY);
  return first !== undefined && isWholeMonth(monthOf(first.firstDay), input, after);
}

interface Snapshot {
  readonly folder: string;
  readonly changed: ReadonlyMap<SyncTable, readonly Day[]>;
  readonly after: DaysByTable;
}

/** Writes what a window changes as a snapshot. Nobody else loads meanwhile. */
async function writeSnapshot(input: PublishInput, { folder, changed, after }: Snapshot): Promise<KnownDays> {
  const { settings, catalog, project, fetched, monthsThrough } = input;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const store = new FactStore(settings.dataFolder);
  const checked = new CheckedFiles(store);
  const engine = await Engine.open({
    memoryLimit: settings.memoryLimit,
    threads: settings.threads,
    temporaryFolder: `${folder}-memory`,
    folders: [folder, fetched.files.folder, store.path('facts')],
  });
  try {
    using session = await engine.session();
    const known: Partial<Record<FactTable, readonly Day[]>> = {};
    for (const [table, days] of changed) {
      known[table] = days;
      if (table === 'country_daily') continue;
      await fetched.files.moveTo(folder, table, days);
      if (KEYWORD_TABLES.includes(table)) {
        const kept = { table, days, target: join(folder, table, 'kept.parquet') };
        await keepOtherKeywords(session, input, checked, kept);
      }
    }
    const asked = [...fetched.files.of('country_daily').keys()].filter((day) => day <= monthsThrough);
    const target = join(folder, 'country_monthly.parquet');
    const { months, days } = await writeCountryMonths(session, {
      project,
      stored: await checked.open(filesOf(catalog, project, 'country_daily', { ...EVERY_DAY, to: monthsThrough })),
      fetched: fetched.files.files('country_daily', asked),
      replaced: asked,
      through: monthsThrough,
      isWhole: (month) => isWholeMonth(month, input, after),
      target,
    });
    if (months.length > 0) known.country_monthly = months.map((month) => `${month}-01`);
    const daily = (changed.get('country_daily') ?? []).filter((day) => !months.includes(monthOf(day)));
    if (changed.has('country_daily') || days.length > 0) {
      await fetched.files.moveTo(folder, 'country_daily', daily);
      known.country_daily = [...new Set([...(changed.get('country_daily') ?? []), ...days])];
    }
    return { project, days: known };
  } finally {
    engine.close();
  }
}

interface KeptRows {
  readonly table: SyncTable;
  readonly days: readonly Day[];
  readonly target: string;
}

/** Days are replaced whole: rows of keywords that the window says nothing about are taken along. */
async function keepOtherKeywords(
  session: Awaited<ReturnType<Engine['session']>>,
  { catalog, project, window }: PublishInput,
  checked: CheckedFiles,
  { table, days, target }: KeptRows,
): Promise<void> {
  const asked = new Set(
    window.asks.filter((ask) => ask.table === table).flatMap(({ keywords }) => keywords.map(({ id }) => id)),
  );
  const others = (await listKeywordIds(catalog, project)).filter((id) => !asked.has(id));
  const stored = filesOf(catalog, project, table, { from: days.reduce(earlier), to: days.reduce(later) });
  if (others.length === 0 || stored.length === 0) return;
  const { columns } = FACTS.find(({ name }) => name === table)!;
  const names = columns.map(({ name }) => name).filter((name) => name !== 'project_id');
  const parameters = { files: await checked.open(stored), project, days, keywords: others, target };
  await session.run(sqlTemplate('sync/kept_keyword_rows', { columns: identifiers(names) }), parameters);
}
