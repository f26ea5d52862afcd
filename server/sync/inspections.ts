import pLimit from 'p-limit';
import { readKeywordTargets } from '../catalog/alerts.ts';
import { filesOf, readCoverage } from '../catalog/fact-files.ts';
import {
  type InspectionResult,
  listDueInspections,
  listInspectionAttempts,
  putInspections,
} from '../catalog/inspections.ts';
import { listPageGroups } from '../catalog/keywords.ts';
import type { Project } from '../catalog/projects.ts';
import { addDays, later, nextPacificMidnight } from '../domain/dates.ts';
import { belongsTo } from '../domain/index-state.ts';
import { toMicroseconds } from '../domain/instants.ts';
import type { Facts } from '../facts/facts.ts';
import { ProviderFailure, toKnownError } from '../providers/failures.ts';
import { jobOfCommand, type ProviderJob } from '../providers/gateway.ts';
import { GOOGLE_ERRORS } from '../providers/google/failures.ts';
import type { ProviderRun } from '../providers/retries.ts';
import { INSPECTION_LIMITS } from '../providers/search-console/inspections.ts';
import { AT_ONCE, runWorkers } from './at-once.ts';
import { type PageToInspect, pagesToForget, planInspections } from './inspection-plan.ts';
import { type Connected, findConnected } from './prepare.ts';
import type { SyncOptions, SyncStores } from './run-options.ts';

/** Pages that are inspected and stored together. */
const BATCH = 50;
const MAX_BATCH_TIME = 900_000;
/** Requests of a property at a time. */
const PAGES_AT_ONCE = 4;
/** Failures in a row after which the cause is the provider and not the pages. */
const MAX_IN_A_ROW = 5;
/** Milliseconds until the next look at a project without due pages, and after a failure. */
const LOOK_AGAIN = 6 * 3_600_000;
const RETRY_AFTER = 3_600_000;
/** Days of facts that are read, and those at their start whose pages are not new. */
const WINDOW = 35;
const KNOWN_DAYS = 7;
const MAX_PAGES = 100_000;

export interface InspectionOptions extends Pick<SyncOptions, 'now' | 'signal'> {
  readonly facts: Facts;
  /** Of each property; those of the provider without it. */
  readonly limits?: NonNullable<ProviderJob['limits']>;
}

interface InspectionCounts {
  inspected: number;
  failed: number;
  /** Pages of which nothing is known any more. */
  forgotten: number;
}

/**
 * Inspects pages of all projects that are due, in batches that are stored at once: a killed run continues after them. A
 * project has one batch at a time, then waits for the others. A project that fails is tried again after an hour.
 */
export async function syncInspections(stores: SyncStores, options: InspectionOptions): Promise<InspectionCounts> {
  const { now, signal } = options;
  const counts = { inspected: 0, failed: 0, forgotten: 0 };
  const running = new Set<string>();
  await runWorkers(async () => {
    signal.throwIfAborted();
    const due = await listDueInspections(stores.catalog, toMicroseconds(now()), running.size + AT_ONCE);
    const id = due.find((one) => !running.has(one));
    if (id === undefined) return false;
    running.add(id);
    try {
      const connected = await findConnected(stores.catalog, id);
      if (connected !== undefined) await inspectBatch(stores, connected, options, counts);
    } finally {
      running.delete(id);
    }
    return true;
  });
  return counts;
}

/** Throws if the run was stopped; other failures are the reason. */
async function inspectBatch(
  stores: SyncStores,
  connected: Connected,
  { facts, now, signal, limits = INSPECTION_LIMITS }: InspectionOptions,
  counts: InspectionCounts,
): Promise<void> {
  const { catalog, gateway } = stores;
  const { project, connection } = connected;
  const job: ProviderJob = {
    ...jobOfCommand(connection.kind, project.property, 'index states'),
    // Apart from those of the reporting API, which has another quota.
    limited: `${project.property} inspections`,
    limits,
    demand: () => 'background',
    maxTime: MAX_BATCH_TIME,
    line: { project: project.id },
  };
  const results: InspectionResult[] = [];
  let forgotten = new Set<string>();
  const store = (wait: number, reason: string | null = null): Promise<void> => {
    counts.inspected += results.filter(({ inspection }) => inspection !== null).length;
    counts.failed += results.filter(({ inspection }) => inspection === null).length;
    counts.forgotten += forgotten.size;
    const dueAt = toMicroseconds(now() + wait);
    return putInspections(catalog, project, results, { dueAt, reason, forgotten: [...forgotten] });
  };
  const untilTomorrow = (): number => nextPacificMidnight(now()) - now();
  const left = await gateway.requestsLeft(job);
  if (left === 0) return store(untilTomorrow());
  const attempts = new Map((await listInspectionAttempts(catalog, project.id)).map((each) => [each.url, each]));
  const candidates = await pagesOf(stores, { project, facts, signal, known: attempts.keys() });
  forgotten = pagesToForget(candidates, { attempts, now: now() });
  const pages = planInspections(
    candidates.filter(({ url }) => !forgotten.has(url)),
    { attempts, now: now(), count: Math.min(BATCH, left) },
  );
  if (pages.length === 0) return store(LOOK_AGAIN);
  try {
    await gateway.run(
      job,
      (run) => inspectEach(stores, connected, pages, { run, now, results }),
      () => ({ pages: results.length, forgotten: forgotten.size }),
    );
  } catch (error) {
    if (!(error instanceof ProviderFailure) || gateway.stopped.aborted) {
      await store(0);
      throw error;
    }
    const isQuota = error.kind === 'load-quota';
    const wait =
      error.retryAfter ?? (isQuota && (await gateway.requestsLeft(job)) === 0 ? untilTomorrow() : RETRY_AFTER);
    return store(wait, isQuota ? null : (toKnownError(error, GOOGLE_ERRORS) as Error).message);
  }
  return store(0);
}

/** Adds the result of each page to `results`. Throws `ProviderFailure` when it is of no use to go on. */
async function inspectEach(
  { clientOf }: SyncStores,
  { project, connection }: Connected,
  pages: readonly PageToInspect[],
  { run, now, results }: { run: ProviderRun; now: () => number; results: InspectionResult[] },
): Promise<void> {
  const client = clientOf(connection);
  const limit = pLimit(PAGES_AT_ONCE);
  /** Failures since the last answer. */
  let failed: InspectionResult[] = [];
  let ended: Error | undefined;
  const inspectOne = async ({ url, clicks, isWatched }: PageToInspect): Promise<void> => {
    if (ended !== undefined) return;
    const resultOf = (inspection: InspectionResult['inspection']) => {
      return { url, clicks, isWatched, inspection, at: toMicroseconds(now()) };
    };
    try {
      results.push(...failed, resultOf(await client.inspect(project.property, url, run)));
      failed = [];
    } catch (error) {
      const kind = error instanceof ProviderFailure ? error.kind : undefined;
      // The provider refuses pages of other properties in the words of lost access.
      const isOfPage = kind === 'broken' || kind === 'access-lost';
      if (isOfPage && !run.signal.aborted && failed.length + 1 < MAX_IN_A_ROW) failed.push(resultOf(null));
      else ended ??= error as Error;
    }
  };
  await Promise.all(pages.map((page) => limit(inspectOne, page)));
  if (ended !== undefined) throw ended;
  results.push(...failed);
}

interface PagesSource {
  readonly project: Project;
  readonly facts: Facts;
  readonly signal: AbortSignal;
  /** Addresses that were inspected before. */
  readonly known: Iterable<string>;
}

/** The pages of a property: those with impressions, those that are watched, and those that are known. */
async function pagesOf(
  { catalog }: SyncStores,
  { project, facts, signal, known }: PagesSource,
): Promise<PageToInspect[]> {
  const { id, property, syncedThrough } = project;
  const targets = await readKeywordTargets(catalog, id);
  const groups = await listPageGroups(catalog, id);
  const watched = new Set([...targets.values(), ...groups.flatMap(({ pinnedUrls }) => pinnedUrls)]);
  const to = syncedThrough!;
  const range = { from: addDays(to, 1 - WINDOW), to };
  const files = await filesOf(catalog, id, 'page_daily', range);
  const of = { recent: addDays(to, -27), newest: addDays(to, -6), limit: MAX_PAGES };
  const stored = (await readCoverage(catalog, id)).page_daily?.firstDay ?? to;
  const newFrom = addDays(later(range.from, stored), KNOWN_DAYS);
  const pages = new Map<string, PageToInspect>();
  for (const { url, first, ...weight } of await facts.pageWeights({ files, range, signal }, of)) {
    const since = addDays(range.from, first);
    pages.set(url, { url, ...weight, isWatched: watched.has(url), newSince: since >= newFrom ? since : null });
  }
  for (const url of [...watched, ...known]) {
    if (!pages.has(url)) pages.set(url, { ...WITHOUT_FACTS, url, isWatched: watched.has(url) });
  }
  return [...pages.values()].filter(({ url }) => belongsTo(property, url));
}

const WITHOUT_FACTS = { newSince: null, clicks: 0, newestClicks: 0, impressions: 0 };
