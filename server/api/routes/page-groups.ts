import { Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { pageGroupsReport } from '../../presets/page-groups.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { integer, object, project, rule, shortId } from '../schemas.ts';
import type { Route } from './route.ts';

const pageGroup = object('PageGroup', {
  id: shortId,
  name: Type.String(),
  position: integer(),
  rule,
  pinnedUrls: Type.Array(Type.String(), { description: 'URL paths pinned into the group.' }),
});

const answer = object('PageGroupsAnswer', { project, pageGroups: Type.Array(pageGroup) });

export const pageGroups: Route = {
  path: '/projects/:id/page-groups',
  report: pageGroupsReport,
  tag: 'Pages and queries',
  summary: 'The page groups of a project',
  description: 'Definitions only, in order; member pages are not part of the answer.',
  response: responses(answer, 'The page groups.', ['not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/page-groups' },
  handle: answerWith(pageGroupsReport, { json: documentJson, version: () => '' }),
};
