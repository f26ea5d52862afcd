import { listPageGroups, type PageGroup } from '../catalog/keywords.ts';
import { type ProjectQuery, type ProjectReport, projectReference, queryAbout } from './report.ts';

interface PageGroupsResult {
  readonly project: { readonly id: string; readonly domain: string };
  readonly pageGroups: readonly PageGroup[];
}

/** The page groups of a project, in order. */
export const pageGroupsReport: ProjectReport<ProjectQuery, PageGroupsResult, PageGroupsResult> = {
  operation: 'listPageGroups',
  parameters: {},
  needs: 'project',
  parse: (_sent, project) => queryAbout('listPageGroups', project),
  plan: (_query, { catalog, project }) => ({
    project: projectReference(project),
    pageGroups: listPageGroups(catalog, project.id),
  }),
  run: (result) => result,
};
