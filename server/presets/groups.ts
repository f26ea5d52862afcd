import { Type } from 'typebox';
import { projectReference, trackedReport } from './report.ts';
import { integer, nullable, object, oneOf, project, rule, shortId } from './schemas.ts';

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

/** The keyword groups and folders of a project, in rank-tracker order, with the keywords of manual groups. */
export const groupsReport = trackedReport({
  path: '/projects/:id/groups',
  operation: 'listGroups',
  tag: 'Keywords',
  summary: 'The keyword groups and folders of a project',
  description: 'In rank-tracker order.',
  answer,
  content: 'The groups.',
  examples: { 200: '/projects/Proj1/groups' },
  parameters: {},
  parse: () => ({}),
  plan: (_query, { project, tracked }) => ({ project, tracked }),
  run: ({ project, tracked: { groups, membership } }) => ({
    project: projectReference(project),
    groups: groups.map((group) => ({
      ...group,
      keywordIds: group.kind === 'manual' ? (membership.keywordsOf.get(group.id) ?? []) : null,
    })),
  }),
  version: () => '',
});
