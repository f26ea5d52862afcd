import pLimit from 'p-limit';
import { addDays, countDays, type Day, eachDay } from '../domain/dates.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { Gateway, ProviderJob } from '../providers/gateway.ts';
import type { ProviderRun } from '../providers/retries.ts';
import type { AnalyticsQuery } from '../providers/search-console/analytics-query.ts';
import type { AnalyticsRow, SearchAnalytics } from '../providers/search-console/search-analytics.ts';
import { MAX_ROWS } from './batches.ts';
import type { DayFiles, FetchedRow } from './day-files.ts';
import type { DayQuery, SyncWindow } from './plan.ts';
import { appearanceQuery, appearancesQuery, type FactQuery, type QueriedProject, queriesOf } from './requests.ts';
import type { DayTable, SyncTable } from './tables.ts';

/** The most rows per day that the API returns. */
const MAX_ROWS_PER_DAY = 50_000;
/** Upper limit for appearance values; each takes a request. */
const MAX_APPEARANCES = 200;

/** Counters of a run. */
export interface RunCounts {
  requests: number;
  retries: number;
  rows: number;
}

/** How a run sends requests. */
export interface RequestOptions {
  readonly gateway: Gateway;
  readonly client: SearchAnalytics;
  readonly project: QueriedProject;
  readonly counts: RunCounts;
  /** See `ProviderJob`. */
  readonly onSlow?: () => void;
  readonly signal: AbortSignal;
}

interface FetchOptions extends RequestOptions {
  /** Concurrent requests. */
  readonly atOnce: number;
  /** Called after each request. */
  readonly report: () => void;
}

/** A fetched window. */
export interface FetchedWindow {
  readonly files: DayFiles;
  /** Of one table at most: a second failure ends the run. */
  readonly failures: ReadonlyMap<SyncTable, ProviderFailure>;
}

/** Runs a part of a window that occupies one slot at the gateway. */
type RunPart = (table: SyncTable, part: (run: ProviderRun) => Promise<void>) => Promise<void>;

/** Runs requests through the gateway, as background work, and adds them to `counts`. */
export async function runAtGateway<T>(
  { gateway, project, counts, signal, onSlow }: RequestOptions,
  work: (run: ProviderRun) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const job: ProviderJob = {
    provider: 'search-console',
    property: project.property,
    demand: () => 'background',
    retryShare: 1,
    pauseAfterFailure: 0,
    isPart: true,
    what: 'sync',
    line: {},
    onSlow,
  };
  return gateway.run(
    job,
    async (run) => {
      try {
        return await work(run);
      } finally {
        counts.requests += run.requests;
        counts.retries += run.retries;
      }
    },
    () => ({}),
  );
}

/**
 * Fetches a window into files. Returns the failure of a single table; throws `ProviderFailure` for failures that affect
 * the whole property.
 */
export async function fetchWindow(window: SyncWindow, files: DayFiles, options: FetchOptions): Promise<FetchedWindow> {
  const failures = new Map<SyncTable, ProviderFailure>();
  const limit = pLimit(options.atOnce);
  let fatal: Error | undefined;
  const runPart: RunPart = (table, part) =>
    limit(async () => {
      if (fatal !== undefined || failures.has(table)) return;
      try {
        await runAtGateway(options, part);
        options.report();
      } catch (error) {
        if (!isOfTable(error) || table === 'site_daily' || (failures.size > 0 && !failures.has(table))) {
          fatal ??= error instanceof Error ? error : new Error(String(error));
        } else failures.set(table, error);
      }
    });
  const fetched = window.dayQueries.map((dayQuery) => fetchDayQuery(dayQuery, files, options, runPart));
  await Promise.all(fetched);
  if (fatal !== undefined) throw fatal;
  for (const table of failures.keys()) await files.drop(table);
  return { files, failures };
}

/** Whether a failure may affect only one table. Other failures affect the property and end the run. */
function isOfTable(error: unknown): error is ProviderFailure {
  return error instanceof ProviderFailure && error.kind === 'broken';
}

async function fetchDayQuery(
  dayQuery: DayQuery,
  files: DayFiles,
  { project, client, counts }: RequestOptions,
  runPart: RunPart,
): Promise<void> {
  const { table } = dayQuery;
  for (const day of eachDay(dayQuery.from, dayQuery.to)) files.register(table, day);
  const read = (group: readonly FactQuery[]): Promise<void> =>
    runPart(table, async (run) => {
      await readGroup(group, { table, files, client, run, counts });
    });
  if (table !== 'appearance_daily') {
    await Promise.all(queriesOf(project, dayQuery).map(read));
    return;
  }
  let values: string[] = [];
  await runPart(table, async (run) => {
    const query = appearancesQuery(project, dayQuery);
    const { rows } = await client.page(query, { start: 0, limit: MAX_APPEARANCES }, run);
    values = rows.map(({ keys }) => keys[0]!);
  });
  const queries = values.flatMap((value) => appearanceQuery(project, dayQuery, value) ?? []);
  await Promise.all(queries.map((query) => read([query])));
}

interface Reading {
  readonly table: DayTable;
  readonly files: DayFiles;
  readonly client: SearchAnalytics;
  readonly run: ProviderRun;
  readonly counts: RunCounts;
}

/** Reads queries whose rows are summed by key. Returns the first provisional day, if the provider reports one. */
export async function readGroup(
  group: readonly FactQuery[],
  { table, files, client, run, counts }: Reading,
): Promise<Day | null> {
  let incomplete: Day | null = null;
  const merged = new Map<string, FetchedRow>();
  for (const { query, toFacts } of group) {
    const take = (rows: readonly AnalyticsRow[]): void => {
      for (const fact of rows.flatMap(toFacts)) {
        const key = JSON.stringify([fact.day, ...Object.values(fact.key)]);
        const before = merged.get(key);
        merged.set(key, before === undefined ? fact : sumOf(before, fact));
      }
    };
    const onCutOff = (day: Day): void => {
      files.register(table, day).cutOff = true;
    };
    incomplete = (await readAllRows(query, { client, run, take, onCutOff })) ?? incomplete;
  }
  counts.rows += merged.size;
  await files.add(table, merged.values());
  return incomplete;
}

function sumOf(a: FetchedRow, b: FetchedRow): FetchedRow {
  return {
    ...a,
    clicks: Math.max(0, a.clicks + b.clicks),
    impressions: Math.max(0, a.impressions + b.impressions),
    sumPosition: Math.max(0, a.sumPosition + b.sumPosition),
  };
}

interface RowsReading extends Pick<Reading, 'client' | 'run'> {
  readonly take: (rows: readonly AnalyticsRow[]) => void;
  readonly onCutOff: (day: Day) => void;
}

/**
 * Reads all rows of a range. A full page may be incomplete: then the range is halved. A single day is read page by page.
 * Returns the first provisional day, if the provider reports one.
 */
async function readAllRows(query: AnalyticsQuery, reading: RowsReading): Promise<Day | null> {
  const { from, to } = query;
  const { client, run, take, onCutOff } = reading;
  if (from === to) {
    const takeAll = async (rows: readonly AnalyticsRow[]): Promise<void> => take(rows);
    const { rows, firstIncompleteDate } = await client.read(query, { max: MAX_ROWS_PER_DAY, take: takeAll }, run);
    if (rows >= MAX_ROWS_PER_DAY) onCutOff(from);
    return firstIncompleteDate;
  }
  const { rows, firstIncompleteDate } = await client.page(query, { start: 0, limit: MAX_ROWS }, run);
  if (rows.length < MAX_ROWS) {
    take(rows);
    return firstIncompleteDate;
  }
  const middle = addDays(from, Math.floor(countDays(from, to) / 2));
  await readAllRows({ ...query, to: addDays(middle, -1) }, reading);
  await readAllRows({ ...query, from: middle }, reading);
  return firstIncompleteDate;
}
