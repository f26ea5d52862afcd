import { type Static, Type } from 'typebox';
import { KEYWORD_FIELDS, NUMBER_OPERATOR_NAMES, TEXT_OPERATOR_NAMES } from '../domain/rules.ts';
import { projectReference, readTracked } from '../http/guard.ts';
import { nullable, object, oneOf, project, responses, shortId } from '../http/schemas.ts';
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

export const groups: Route<typeof answer> = {
  path: '/projects/:id/groups',
  operation: 'listGroups',
  tag: 'Keywords',
  summary: 'The keyword groups and folders of a project',
  description: 'In rank-tracker order.',
  parameters: {},
  response: responses(answer, 'The groups.', ['not_found']),
  handle:
    ({ tracked }) =>
    async (request) => {
      const read = await readTracked(tracked, request, ({ tracked: { groups, membership } }) => ({
        groups,
        membership,
      }));
      return {
        project: projectReference(read.project),
        groups: read.groups.map((found) => ({
          ...found,
          keywordIds: found.kind === 'manual' ? (read.membership.keywordsOf.get(found.id) ?? []) : null,
        })),
      } as Static<typeof answer>;
    },
};
