import type { Project } from '../catalog/projects.ts';
import type { TrackedKeywords } from '../catalog/tracked.ts';
import type { Group } from '../domain/groups.ts';
import { type ProjectQuery, projectReference, queryAbout, type TrackedReport } from './report.ts';

interface GroupsPlan {
  readonly project: Project;
  readonly tracked: TrackedKeywords;
}

interface GroupsResult {
  readonly project: { readonly id: string; readonly domain: string };
  readonly groups: (Group & { keywordIds: string[] | null })[];
}

/** The keyword groups and folders of a project, in rank-tracker order, with the keywords of manual ones. */
export const groupsReport: TrackedReport<ProjectQuery, GroupsPlan, GroupsResult> = {
  operation: 'listGroups',
  parameters: {},
  needs: 'tracked',
  parse: (_sent, project) => queryAbout('listGroups', project),
  plan: (_query, { project, tracked }) => ({ project, tracked }),
  run: ({ project, tracked: { groups, membership } }) => ({
    project: projectReference(project),
    groups: groups.map((group) => ({
      ...group,
      keywordIds: group.kind === 'manual' ? [...(membership.keywordsOf.get(group.id) ?? [])] : null,
    })),
  }),
};
