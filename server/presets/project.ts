import { listedProject } from './projects.ts';
import { projectReport } from './report.ts';

/** One project, with the same properties as in the list of projects. */
export const oneProjectReport = projectReport({
  operation: 'getProject',
  parameters: {},
  parse: () => ({}),
  plan: (_query, { project }, { now }) => ({ project: listedProject(project, now()) }),
  run: (result) => result,
});
