import type { Catalog } from '../catalog/catalog.ts';
import { type Connection, connectionsOf } from '../catalog/connections.ts';
import { readCoverage } from '../catalog/fact-files.ts';
import { listKeywords } from '../catalog/keywords.ts';
import { findAnyProject, type Project } from '../catalog/projects.ts';
import { forgetSyncDays, listFetchedKeywords, listSyncDays, type SyncDay } from '../catalog/sync-days.ts';
import {
  putSyncProject,
  raiseEntityRevisions,
  readSyncProject,
  readSyncRequest,
  type SyncProject,
} from '../catalog/sync-projects.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import type { BrandTerm } from '../domain/brand-terms.ts';
import { addDays, type Day, eachDay, earlier, later, monthsEarlier } from '../domain/dates.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { HISTORY_MONTHS, type Range } from '../domain/range.ts';
import { keptFrom } from '../domain/retention.ts';
import { termExpressions } from './batches.ts';
import type { PlanInput } from './plan.ts';
import { tablesOf } from './tables.ts';

/** A project with a connection to the reporting API. */
export interface Connected {
  readonly project: Project;
  readonly connection: Connection;
}

export async function findConnected(catalog: Catalog, id: string): Promise<Connected | undefined> {
  const project = await findAnyProject(catalog, id);
  const connection = (await connectionsOf(catalog, id)).find(({ kind }) => kind === 'search-console');
  return project === undefined || connection === undefined ? undefined : { project, connection };
}

/** Days before its months of history that the API sometimes returns. */
const MORE_DAYS = 14;

/** The days to sync until today. A range that was started before is kept while the API may still have its days. */
function syncRangeOf({ firstDay }: Pick<SyncProject, 'firstDay'>, days: readonly SyncDay[], today: Day): Range {
  const oldest = addDays(monthsEarlier(today, HISTORY_MONTHS), -MORE_DAYS);
  if (firstDay === null || firstDay >= oldest) return { from: firstDay ?? oldest, to: today };
  // Missing days that the API no longer has are given up; stored days remain in the range.
  const known = new Set(days.filter(({ table }) => table === 'site_daily').map(({ day }) => day));
  const isLost = eachDay(firstDay, addDays(oldest, -1)).some((day) => !known.has(day));
  return { from: isLost ? oldest : firstDay, to: today };
}

/** The state of a project before a run. */
export interface BeforeRun {
  /** Its first day is the one to sync from if all days were kept. */
  readonly sync: SyncProject;
  readonly input: Omit<PlanInput, 'provisionalAfter' | 'refetched'>;
}

/**
 * Reads the state of a project.
 * @param now milliseconds
 * @param staleAfter milliseconds after which provisional days are fetched again
 * @param keepDays the setting; without it, the days of the last run are kept
 */
export async function readBeforeRun(
  catalog: Catalog,
  { project, connection }: Connected,
  { today, now, staleAfter, keepDays }: { today: Day; now: number; staleAfter: number; keepDays?: number },
): Promise<BeforeRun> {
  const stored = await readSyncProject(catalog, project.id);
  const hasOtherCountry = stored.firstDay !== null && stored.country !== project.country;
  const sync = hasOtherCountry ? { ...stored, country: project.country } : stored;
  // Days of another country cannot be used: all are fetched again.
  const days = hasOtherCountry ? [] : await listSyncDays(catalog, project.id);
  const wanted = syncRangeOf(sync, days, today);
  const workspace = await findWorkspace(catalog, project.workspaceId);
  const kept = keepDays === undefined ? sync.keptFrom : keptFrom(workspace?.keepDays ?? null, keepDays, now);
  return {
    sync: { ...sync, firstDay: wanted.from, keptFrom: kept },
    input: {
      // Days dropped by retention are not fetched again.
      syncRange: { from: kept === null ? wanted.from : earlier(later(wanted.from, kept), today), to: today },
      tables: tablesOf(connection.archive),
      days,
      keywords: (await listKeywords(catalog, project.id)).map(({ id, query }) => ({ id, query })),
      fetchedKeywords: hasOtherCountry ? [] : await listFetchedKeywords(catalog, project.id),
      brandTerms: project.brandTerms,
      brandChanged: !haveSameTerms(sync.brandTerms, project.brandTerms),
      monthlyThrough: (await readCoverage(catalog, project.id)).country_monthly?.lastDay ?? null,
      now: toMicroseconds(now),
      staleBefore: Math.max(toMicroseconds(now - staleAfter), (await readSyncRequest(catalog, project.id)) ?? 0),
    },
  };
}

/** Stores the parameters of a run before the first request. */
export async function storeRunStart(
  catalog: Catalog,
  { project }: Connected,
  { input, sync: before }: BeforeRun,
): Promise<void> {
  const hasBrandDays = input.days.some(({ table }) => table === 'brand_daily');
  const sync: SyncProject = {
    ...before,
    lastDay: input.syncRange.to,
    country: project.country,
    // With stored brand days, the terms change when those days are published.
    brandTerms: hasBrandDays ? before.brandTerms : project.brandTerms,
    lastRunAt: input.now,
  };
  await catalog.transaction(async (tx) => {
    const stored = await readSyncProject(tx, project.id);
    if (stored.firstDay !== null && stored.country !== project.country) {
      await forgetSyncDays(tx, project.id);
      await raiseEntityRevisions(tx, [project.id]);
    }
    await putSyncProject(tx, project.id, sync);
  });
}

/** Whether terms match the same queries. */
function haveSameTerms(a: readonly BrandTerm[], b: readonly BrandTerm[]): boolean {
  return termExpressions(a).symmetricDifference(termExpressions(b)).size === 0;
}
