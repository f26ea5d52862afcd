import { join } from 'node:path';
import { lostProviderOf, putCompared, type SyncDay } from '../catalog/sync-days.ts';
import {
  announceSyncStatus,
  putReconciledAt,
  putSyncProject,
  readSyncProject,
  readSyncRequest,
  type SyncState,
} from '../catalog/sync-projects.ts';
import { addDays, type Day, pacificDayOf } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { measure } from '../runtime/measurements.ts';
import { requireDiskSpace } from '../storage/free-space.ts';
import { DayFiles } from './day-files.ts';
import { addDay, byTable, type DaysByTable } from './day-states.ts';
import { fetchWindow, type RequestOptions, type RunCounts } from './fetch.ts';
import { syncHours } from './hours.ts';
import { lastCompleteMonthEnd } from './new-days.ts';
import { changesKeywords, countRequests, type PlanInput, planWindows, type SyncWindow } from './plan.ts';
import { type Connected, findConnected, readBeforeRun, storeRunStart } from './prepare.ts';
import {
  isPending,
  newestState,
  nextRunAt,
  outcomeOf,
  type RunOutcome,
  statusOf,
  storeFailure,
} from './project-state.ts';
import { type Publication, publishEnd, publishWindow } from './publish.ts';
import { dueComparisons, findMovedDays, readLastFinalDay } from './questions.ts';
import type { SyncOptions, SyncResult, SyncStores } from './run-options.ts';
import { type DayTable, HOURS_TABLE } from './tables.ts';
import { syncTypes } from './types.ts';
import { syncWholeTables } from './whole-tables.ts';

/**
 * Syncs a project once: reads which days are final, then fetches and publishes due days, window by window. Each window is
 * published atomically, so the next run continues after it. The caller must hold the lease of the project. Throws if the
 * run was stopped; other failures are stored and returned.
 */
export async function syncProject(stores: SyncStores, id: string, options: SyncOptions): Promise<SyncResult> {
  const { catalog, settings, log, gateway, reserve } = stores;
  const started = performance.now();
  const counts = { requests: 0, retries: 0, rows: 0, windows: 0 };
  let outcome: RunOutcome;
  let reason: string | null = null;
  try {
    const connected = await findConnected(catalog, id);
    if (connected === undefined) throw new Error(`Project '${id}' has no search-console connection.`);
    ({ outcome, reason } = await new Run(stores, connected, options, counts).run());
  } catch (error) {
    options.signal.throwIfAborted();
    if (gateway.stopped.aborted) throw error;
    ({ outcome, reason } = outcomeOf(error));
    if (outcome === 'failed') log.error({ err: error, project: id }, 'the sync of a project failed');
    const { syncHours: hours } = settings;
    const failure = { outcome, reason, now: options.now(), random: options.random(), hours };
    if (outcome === 'disk-full') await reserve.release();
    await storeFailure(catalog, id, failure).catch((unstored: unknown) => {
      log.error({ err: unstored, project: id }, 'the state of a project could not be stored');
    });
  }
  const seconds = Math.round(performance.now() - started) / 1000;
  measure('syncRun', () => ({ outcome, seconds }));
  const line = { project: id, ...counts, seconds, outcome };
  log.info({ ...line, ...(reason === null ? {} : { reason }) }, 'project synced');
  return { ...line, reason };
}

/** The state of a run. */
class Run {
  readonly #stores: SyncStores;
  readonly #connected: Connected;
  readonly #options: SyncOptions;
  readonly #counts: RunCounts & { windows: number };
  readonly #today: Day;
  #days: Map<DayTable, Map<Day, SyncDay>> = new Map();

  constructor(stores: SyncStores, connected: Connected, options: SyncOptions, counts: RunCounts & { windows: number }) {
    const { signal, onWait } = options;
    const { publisher, gateway } = stores;
    // Other syncs publish sooner.
    const onLoad = (waited: number): void => {
      if (waited >= gateway.slowAfter) onWait?.('waiting for a load to end');
    };
    this.#stores = { ...stores, publisher: publisher.waiting({ signal, onWait: onLoad }) };
    this.#connected = connected;
    this.#options = options;
    this.#counts = counts;
    this.#today = pacificDayOf(options.now());
  }

  async run(): Promise<Pick<SyncResult, 'outcome' | 'reason'>> {
    const { catalog, settings, reserve } = this.#stores;
    await requireDiskSpace(settings.dataFolder, settings.minFree, reserve);
    const { now, maxWindows = Number.POSITIVE_INFINITY, staleAfter = 0 } = this.#options;
    const times = { today: this.#today, now: now(), staleAfter, keepDays: settings.keepDays };
    const before = await readBeforeRun(catalog, this.#connected, times);
    await storeRunStart(catalog, this.#connected, before);
    this.#days = byTable(before.input.days);
    // First, because they do not depend on the reporting API.
    await this.#syncWholeTables(before.input, before.sync.keptFrom);
    const known = { ...before.input, provisionalAfter: await readLastFinalDay(this.#requestOptions(), this.#today) };
    await this.#syncHours(known);
    const isFirst = this.#days.get('site_daily') === undefined;
    if (!isFirst) await this.#syncTypes(known);
    const input: PlanInput = { ...known, refetched: await this.#findRefetchedDays(known.days) };
    const windows = planWindows(input);
    const { brandTerms } = this.#connected.project;
    const allRequests = this.#counts.requests + windows.reduce((sum, it) => sum + countRequests(it, brandTerms), 0);
    const report = (): void =>
      this.#options.report?.({
        project: this.#connected.project.id,
        ...this.#counts,
        allWindows: windows.length,
        allRequests,
      });
    report();
    for (const [index, window] of windows.entries()) {
      if (this.#counts.windows >= maxWindows || (index > 0 && (await this.#isRequestedAgain(input)))) break;
      await requireDiskSpace(settings.dataFolder, settings.minFree, reserve);
      const deferCumulative = windows.slice(index + 1).some(changesKeywords);
      await this.#syncWindow(window, input, { report, deferCumulative });
      this.#counts.windows++;
      // Web search comes first in a new project.
      if (isFirst && index === 0) await this.#syncTypes(input);
      report();
    }
    return this.#end(input, windows.length > this.#counts.windows);
  }

  /** Fetches and publishes the newest hours: before the windows, because the provider keeps hours for ten days only. */
  async #syncHours({ provisionalAfter, now, staleBefore }: Omit<PlanInput, 'refetched'>): Promise<void> {
    const days = this.#days.get(HOURS_TABLE) ?? new Map<Day, SyncDay>();
    const input = { project: this.#connected.project.id, days, today: this.#today, provisionalAfter, now, staleBefore };
    for (const day of await syncHours(this.#stores, this.#requestOptions(), input)) addDay(this.#days, day);
  }

  /** Fetches and publishes the whole tables of other providers (see `WholeTable`). */
  async #syncWholeTables(
    { now, staleBefore }: Pick<PlanInput, 'now' | 'staleBefore'>,
    keptFrom: Day | null,
  ): Promise<void> {
    const input = { project: this.#connected.project, days: this.#days, keptFrom, now, staleBefore };
    for (const day of await syncWholeTables(this.#stores, this.#options, input)) addDay(this.#days, day);
  }

  /** Fetches and publishes the search types other than web. */
  async #syncTypes(known: Omit<PlanInput, 'refetched'>): Promise<void> {
    const input = { ...known, project: this.#connected.project.id, days: this.#days };
    for (const day of await syncTypes(this.#stores, this.#requestOptions(), input)) addDay(this.#days, day);
  }

  async #isRequestedAgain({ now }: PlanInput): Promise<boolean> {
    if (this.#options.endsWhenRequested !== true) return false;
    return ((await readSyncRequest(this.#stores.catalog, this.#connected.project.id)) ?? 0) > now;
  }

  /** Fetches and publishes a window. */
  async #syncWindow(
    window: SyncWindow,
    input: PlanInput,
    { report, deferCumulative }: { report: () => void; deferCumulative: boolean },
  ): Promise<void> {
    const { settings, folder } = this.#stores;
    const { project } = this.#connected;
    const files = new DayFiles(join(folder, newUuid()), project.id);
    try {
      const fetched = await fetchWindow(window, files, {
        ...this.#requestOptions(),
        atOnce: settings.fetchesPerProperty,
        report,
      });
      this.#options.signal.throwIfAborted();
      const brandFailure = fetched.failures.get('brand_daily');
      // Days with old and new terms must not be mixed.
      if (brandFailure !== undefined && input.brandChanged) throw brandFailure;
      const states = await publishWindow({
        ...this.#publication(input),
        window,
        fetched,
        today: this.#today,
        provisionalAfter: input.provisionalAfter,
        forcedDays: new Set(this.#options.forcedDays),
        now: this.#options.now(),
        deferCumulative,
        stateAfter: (days) => ({
          syncStatus: 'ok',
          historyBackfilling: isPending(input, days),
          ...(window.kind === 'newest' ? this.#newestState(input, days) : {}),
        }),
        inTransaction: async (tx) => {
          if (window.kind !== 'brand') return;
          const stored = await readSyncProject(tx, project.id);
          await putSyncProject(tx, project.id, { ...stored, brandTerms: project.brandTerms });
        },
      });
      for (const day of states) addDay(this.#days, day);
    } finally {
      await files.remove();
    }
  }

  /** Stores the result of the run, and aggregates country days to months. */
  async #end(input: PlanInput, isPart: boolean): Promise<Pick<SyncResult, 'outcome' | 'reason'>> {
    const { settings } = this.#stores;
    const { project } = this.#connected;
    const { now, random } = this.#options;
    const failed = [...this.#days.values()]
      .flatMap((days) => [...days.values()])
      .find(({ nextTry }) => nextTry !== null);
    const outcome: RunOutcome = failed !== undefined ? 'table-failed' : isPart ? 'part' : 'done';
    const reason =
      failed === undefined ? null : `${failed.table} of ${failed.day} could not be fetched: ${failed.reason}.`;
    const lost = lostProviderOf(failed?.reason ?? null);
    const why =
      lost === undefined ? ({ reason: 'other' } as const) : ({ reason: 'access_lost', provider: lost } as const);
    // Left by the last window, if it changed no keywords.
    if (!isPart) await this.#stores.publisher.completeCumulative(project.id);
    await publishEnd({
      ...this.#publication(input),
      stateAfter: (days) => ({
        ...this.#newestState(input, days),
        syncStatus: statusOf(outcome),
        historyBackfilling: isPending(input, days),
      }),
      inTransaction: async (tx) => {
        const stored = await readSyncProject(tx, project.id);
        const failures = failed === undefined ? 0 : stored.failures + 1;
        const next = nextRunAt({ outcome, failures, now: now(), hours: settings.syncHours, random: random() });
        await putSyncProject(tx, project.id, {
          ...stored,
          failures,
          lastError: reason,
          lastSuccessAt: toMicroseconds(now()),
          nextRunAt: toMicroseconds(isPart ? now() : next),
        });
        // Not after each window: those before the one that fails would look like a recovery.
        await announceSyncStatus(tx, project.id, { ...why, at: toMicroseconds(now()) });
      },
    });
    return { outcome, reason };
  }

  #publication({ syncRange }: PlanInput): Omit<Publication, 'stateAfter' | 'inTransaction'> {
    const countryDays = addDays(this.#today, -this.#stores.settings.countryDays);
    return {
      stores: this.#stores,
      project: this.#connected.project.id,
      days: this.#days,
      syncRange,
      monthsThrough: lastCompleteMonthEnd(countryDays),
    };
  }

  /** Final days that have changed at the provider, and days to fetch again. */
  async #findRefetchedDays(days: readonly SyncDay[]): Promise<ReadonlySet<Day>> {
    const { catalog } = this.#stores;
    const { project } = this.#connected;
    const due = dueComparisons(days, this.#today);
    const stored = this.#days.get('site_daily');
    const moved = new Set(await findMovedDays(this.#requestOptions(), due.keys(), (day) => stored?.get(day)));
    const settled = new Map([...due].filter(([day]) => !moved.has(day)));
    if (due.size > 0) {
      await catalog.transaction(async (tx) => {
        await putCompared(tx, project.id, settled);
        await putReconciledAt(tx, project.id, toMicroseconds(this.#options.now()));
      });
    }
    return moved.union(new Set(this.#options.forcedDays));
  }

  #newestState(input: PlanInput, days: DaysByTable): Partial<SyncState> {
    return newestState(input, days, { project: this.#connected.project, now: this.#options.now() });
  }

  #requestOptions(): RequestOptions {
    const { project, connection } = this.#connected;
    const { property, country, brandTerms } = project;
    const queried = { property, country, brandTerms };
    const { gateway, clientOf } = this.#stores;
    const { signal, onWait } = this.#options;
    const onSlow = (): void => onWait?.('waiting for the provider');
    return { gateway, client: clientOf(connection), project: queried, counts: this.#counts, signal, onSlow };
  }
}
