import { projectReference, trackedReport } from './report.ts';

/** The keyword groups and folders of a project, in rank-tracker order, with the keywords of manual groups. */
export const groupsReport = trackedReport({
  operation: 'listGroups',
  parameters: {},
  parse: () => ({}),
  plan: (_query, { project, tracked }) => ({ project, tracked }),
  run: ({ project, tracked: { groups, membership } }) => ({
    project: projectReference(project),
    groups: groups.map((group) => ({
      ...group,
      keywordIds: group.kind === 'manual' ? (membership.keywordsOf.get(group.id) ?? []) : null,
    })),
  }),
});
