import { type Static, Type } from 'typebox';
import { listPageGroups } from '../catalog/keywords.ts';
import { TEXT_OPERATOR_NAMES } from '../domain/rules.ts';
import { projectReference, readProject } from '../http/guard.ts';
import { object, oneOf, project, responses, shortId } from '../http/schemas.ts';
import type { Route } from './route.ts';

const pageGroup = object({
  id: shortId,
  name: Type.String(),
  position: Type.Integer(),
  rule: object(
    {
      match: oneOf(['all', 'any']),
      conditions: Type.Array(object({ op: oneOf(TEXT_OPERATOR_NAMES), value: Type.String() })),
    },
    { description: 'Conditions test the path of the URL.' },
  ),
  pinnedUrls: Type.Array(Type.String(), { description: 'URL paths pinned into the group.' }),
});

const answer = object({ project, pageGroups: Type.Array(pageGroup) });

export const pageGroups: Route<typeof answer> = {
  path: '/projects/:id/page-groups',
  operation: 'listPageGroups',
  tag: 'Pages and queries',
  summary: 'The page groups of a project',
  description: 'Definitions only, in order; member pages are not part of the answer.',
  parameters: {},
  response: responses(answer, 'The page groups.', ['not_found']),
  handle:
    ({ catalog }) =>
    (request) => {
      const read = readProject(catalog, request, ({ id }) => ({ pageGroups: listPageGroups(catalog, id) }));
      return {
        project: projectReference(read.project),
        pageGroups: read.pageGroups as Static<typeof pageGroup>[],
      };
    },
};
