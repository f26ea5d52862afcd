import { keywordHistoryFrom, listProjects, type Project } from '../catalog/projects.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import type { ReportSources } from './report.ts';

export type ListedProject = ReturnType<typeof listedProject>;

/**
 * The projects of a workspace that have finished setup, oldest first. The only report without a project.
 * @param projects the ids to list; null for all
 */
export async function projectsReport(
  { catalog, now }: ReportSources,
  { workspace, projects }: { readonly workspace: string; readonly projects: readonly string[] | null },
): Promise<{ readonly projects: ListedProject[] }> {
  const listed = await listProjects(catalog, workspace, projects);
  return { projects: listed.map((project) => listedProject(project, now())) };
}

/** A project for responses. */
export function listedProject(project: Project, now: number) {
  const { id, domain, property, country, language, syncStatus, syncedThrough, historyBackfilling } = project;
  return {
    id,
    domain,
    property,
    country,
    language,
    syncStatus,
    lastSyncedAt: isoInstantOrNull(project.lastSyncedAt),
    syncedThrough,
    keywordHistoryFrom: keywordHistoryFrom(project, now),
    historyBackfilling,
    trackedKeywords: project.trackedKeywords,
  };
}
