import { keywordHistoryFrom } from '../catalog/projects.ts';
import { listedProject } from './projects.ts';
import { projectReport } from './report.ts';

/** One project, as the list of projects has it. */
export const oneProjectReport = projectReport({
  operation: 'getProject',
  parameters: {},
  // Before the first sync this day depends on the date alone.
  parse: (_sent, project, now) => ({ historyFrom: keywordHistoryFrom(project, now) }),
  plan: (_query, { project }, { now }) => ({ project: listedProject(project, now()) }),
  run: (result) => result,
});
