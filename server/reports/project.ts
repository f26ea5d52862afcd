import { keywordHistoryFrom } from '../catalog/projects.ts';
import { listedProject } from './projects.ts';
import { projectReport } from './report.ts';

/** One project, with the same properties as in the list of projects. */
export const oneProjectReport = projectReport({
  operation: 'getProject',
  parameters: {},
  // Before the first sync this day depends only on the date.
  parse: (_sent, project, now) => ({ historyFrom: keywordHistoryFrom(project, now) }),
  plan: (_query, { project }, { now }) => ({ project: listedProject(project, now()) }),
  run: (result) => result,
});
