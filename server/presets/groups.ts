import { Type } from 'typebox';
import { WORDS } from '../catalog/entities.ts';
import { listPageGroups } from '../catalog/keywords.ts';
import { projectPreset, projectReference, trackedPreset } from './preset.ts';
import { answered, nullable, object, oneOf, project, rule, shortId } from './schemas.ts';

const group = object('Group', {
  ...answered('groups', ['projectId']),
  kind: oneOf('GroupKind', WORDS.groupKind),
  rule: nullable(rule, 'Only rule groups have one.'),
  keywordIds: nullable(Type.Array(shortId), 'Only manual groups have them; archived keywords are left out.'),
});

const groupsAnswer = object('GroupsAnswer', { project, groups: Type.Array(group) });

/** The keyword groups and folders of a project, in rank-tracker order, with the keywords of manual groups. */
export const groupsPreset = trackedPreset({
  path: '/projects/:id/groups',
  operation: 'listGroups',
  tag: 'Keywords',
  summary: 'The keyword groups and folders of a project',
  description: 'In rank-tracker order.',
  answer: groupsAnswer,
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

const pageGroup = object('PageGroup', {
  ...answered('page_groups', ['projectId']),
  rule,
});

const pageGroupsAnswer = object('PageGroupsAnswer', { project, pageGroups: Type.Array(pageGroup) });

/** The page groups of a project, in order. */
export const pageGroupsPreset = projectPreset({
  path: '/projects/:id/page-groups',
  operation: 'listPageGroups',
  tag: 'Pages and queries',
  summary: 'The page groups of a project',
  description: 'Definitions only, in order; member pages are not part of the answer.',
  answer: pageGroupsAnswer,
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
