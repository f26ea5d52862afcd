import { Type } from 'typebox';
import { documentJson } from '../../formats/json.ts';
import { groupsReport } from '../../presets/groups.ts';
import { answerWith } from '../answer.ts';
import { responses } from '../responses.ts';
import { integer, nullable, object, oneOf, project, rule, shortId } from '../schemas.ts';
import type { Route } from './route.ts';

const group = object('Group', {
  id: shortId,
  name: Type.String(),
  kind: oneOf('GroupKind', ['folder', 'manual', 'rule']),
  parentId: nullable(shortId, 'Id of the folder that contains it.'),
  position: integer({ description: 'Order in the rank tracker.' }),
  pinned: Type.Boolean(),
  rule: nullable(rule, 'Only rule groups have one.'),
  keywordIds: nullable(Type.Array(shortId), 'Only manual groups have them; archived keywords are left out.'),
});

const answer = object('GroupsAnswer', { project, groups: Type.Array(group) });

export const groups: Route = {
  path: '/projects/:id/groups',
  report: groupsReport,
  tag: 'Keywords',
  summary: 'The keyword groups and folders of a project',
  description: 'In rank-tracker order.',
  response: responses(answer, 'The groups.', ['not_found'], { hasEtag: true }),
  examples: { 200: '/projects/Proj1/groups' },
  handle: answerWith(groupsReport, { json: documentJson, version: () => '' }),
};
