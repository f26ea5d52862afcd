import { Type } from 'typebox';
import { KEYWORD_FIELDS, NUMBER_OPERATOR_NAMES, TEXT_OPERATOR_NAMES } from '../../domain/rules.ts';
import { documentJson } from '../../formats/json.ts';
import { groupsReport } from '../../reports/groups.ts';
import { answerFresh } from '../answer.ts';
import { nullable, object, oneOf, project, responses, shortId } from '../schemas.ts';
import type { Route } from './route.ts';

const condition = object({
  field: oneOf(KEYWORD_FIELDS),
  op: oneOf([...TEXT_OPERATOR_NAMES, ...NUMBER_OPERATOR_NAMES]),
  value: Type.Union([Type.String(), Type.Number()]),
});

const group = object({
  id: shortId,
  name: Type.String(),
  kind: oneOf(['folder', 'manual', 'rule']),
  parentId: nullable(shortId, 'Id of the folder that contains it.'),
  position: Type.Integer({ description: 'Order in the rank tracker.' }),
  pinned: Type.Boolean(),
  rule: nullable(
    object({ match: oneOf(['all', 'any']), conditions: Type.Array(condition) }),
    'Only rule groups have one.',
  ),
  keywordIds: nullable(Type.Array(shortId), 'Only manual groups have them; archived keywords are left out.'),
});

const answer = object({ project, groups: Type.Array(group) });

export const groups: Route = {
  path: '/projects/:id/groups',
  report: groupsReport,
  tag: 'Keywords',
  summary: 'The keyword groups and folders of a project',
  description: 'In rank-tracker order.',
  response: responses(answer, 'The groups.', ['not_found'], { hasEtag: true }),
  handle: answerFresh(groupsReport, { json: documentJson, version: () => '' }),
};
