import type { Project } from '../catalog/projects.ts';
import { isoInstantOrNull } from '../domain/instants.ts';
import { keywordHistoryFrom } from '../domain/project-ranges.ts';
import { formatParameters } from './parameters.ts';
import { projectsOnlyReport } from './report.ts';

export type ListedProject = ReturnType<typeof listedProject>;

/** The projects of a workspace that have finished setup, oldest first. */
export const projectsReport = projectsOnlyReport({
  operation: 'listProjects',
  parameters: formatParameters,
  parse: () => ({}),
  plan: (_query, { projects }, { now }) => ({ projects: projects.map((project) => listedProject(project, now())) }),
  run: (result) => result,
});

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
