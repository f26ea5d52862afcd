import { listPageGroups } from '../catalog/keywords.ts';
import { projectReference, projectReport } from './report.ts';

/** The page groups of a project, in order. */
export const pageGroupsReport = projectReport({
  operation: 'listPageGroups',
  parameters: {},
  parse: () => ({}),
  plan: async (_query, { catalog, project }) => ({
    project: projectReference(project),
    pageGroups: await listPageGroups(catalog, project.id),
  }),
  run: (result) => result,
});
