import { listAlertRules, type StoredRule } from '../catalog/alert-rules.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { findEvaluation, readKeywordTargets, type StoredEvaluation } from '../catalog/evaluations.ts';
import { listNotes } from '../catalog/events.ts';
import { listPageGroups, type PageGroup } from '../catalog/keywords.ts';
import { type Project, requireProject } from '../catalog/projects.ts';
import { type TrackedKeywords, TrackedKeywordsCache } from '../catalog/tracked.ts';
import { type Day, earlier, pacificDayOf } from '../domain/dates.ts';
import { settledDay } from '../domain/finality.ts';
import type { AlertNote } from './calendar.ts';
import type { AlertKeyword } from './keyword-facts.ts';

/** The catalog data of a project to evaluate. */
export interface AlertProject {
  readonly project: Project;
  readonly tracked: TrackedKeywords;
  readonly cache: TrackedKeywordsCache;
  readonly keywords: readonly AlertKeyword[];
  readonly rules: readonly StoredRule[];
  readonly pageGroups: readonly PageGroup[];
  readonly notes: readonly AlertNote[];
  readonly evaluation: StoredEvaluation | undefined;
}

const NOTED = ['migration', 'technical'];

/**
 * Reads a project, and what `reads` adds, in one catalog snapshot. Undefined if its setup is unfinished. Throws if the
 * project does not exist.
 */
export async function readAlertProject<T>(
  catalog: Catalog,
  id: string,
  reads: (state: AlertProject, snapshot: Catalog) => Promise<T>,
): Promise<T | undefined> {
  const known = await requireProject(catalog, id);
  const cache = new TrackedKeywordsCache(catalog);
  return cache.read(known.workspaceId, id, async ({ catalog: snapshot, project, tracked }) => {
    const targets = await readKeywordTargets(snapshot, id);
    const range = { from: null, to: null, clientVisible: false };
    const notes = await listNotes(snapshot, { project: id, workspace: project.workspaceId, ...range });
    const state: AlertProject = {
      project,
      tracked,
      cache,
      keywords: tracked.keywords.map(({ id: keyword, query }) => {
        return { id: keyword, query, targetUrl: targets.get(keyword) ?? null };
      }),
      rules: await listAlertRules(snapshot, id),
      pageGroups: await listPageGroups(snapshot, id),
      notes: notes.flatMap(({ date, endDate, category, text, scope, keyword }) => {
        if (!NOTED.includes(category) || scope === 'group' || scope === 'page') return [];
        return [{ from: date, to: endDate ?? date, category, text, keywordId: keyword?.id ?? null }];
      }),
      evaluation: await findEvaluation(snapshot, id),
    };
    return reads(state, snapshot);
  });
}

/** The last final day that is stored; undefined before the first sync. @param now milliseconds */
export function lastStoredFinalDay(
  { provisionalAfter, syncedThrough }: Pick<Project, 'provisionalAfter' | 'syncedThrough'>,
  now: number,
): Day | undefined {
  if (syncedThrough === null) return undefined;
  return earlier(syncedThrough, provisionalAfter ?? settledDay(pacificDayOf(now)));
}
