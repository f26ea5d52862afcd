import { Type } from 'typebox';
import { listPageGroups } from '../catalog/keywords.ts';
import { projectReference, projectReport } from './report.ts';
import { integer, object, project, rule, shortId } from './schemas.ts';

const pageGroup = object('PageGroup', {
  id: shortId,
  name: Type.String(),
  position: integer(),
  rule,
  pinnedUrls: Type.Array(Type.String(), { description: 'URL paths pinned into the group.' }),
});

const answer = object('PageGroupsAnswer', { project, pageGroups: Type.Array(pageGroup) });

/** The page groups of a project, in order. */
export const pageGroupsReport = projectReport({
  path: '/projects/:id/page-groups',
  operation: 'listPageGroups',
  tag: 'Pages and queries',
  summary: 'The page groups of a project',
  description: 'Definitions only, in order; member pages are not part of the answer.',
  answer,
  content: 'The page groups.',
  examples: { 200: '/projects/Proj1/page-groups' },
  parameters: {},
  parse: () => ({}),
  plan: async (_query, { catalog, project }) => ({
    project: projectReference(project),
    pageGroups: await listPageGroups(catalog, project.id),
  }),
  run: (result) => result,
  version: () => '',
});
