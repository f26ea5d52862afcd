import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { groupExists, listPageGroups, type PageGroup } from '../catalog/keywords.ts';
import { notFound } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import { type PreviewRequest, previewGroup, previewPageGroup } from '../presets/previews.ts';
import { nullable, oneOf, rule } from '../presets/schemas.ts';
import { requireGroupRule } from '../projects/group-checks.ts';
import {
  addGroup,
  changeGroup,
  findGroup,
  type GroupWithMembers,
  groupVersion,
  removeGroup,
} from '../projects/groups.ts';
import {
  addPageGroup,
  changePageGroup,
  pageGroupVersion,
  removePageGroup,
  requirePinned,
} from '../projects/page-groups.ts';
import type { AddAction, Call, Wanted } from './actions.ts';

const strict = { additionalProperties: false };
const name = Type.String();
const fields = {
  parentId: Type.Optional(nullable(Type.String())),
  pinned: Type.Optional(Type.Boolean()),
  rule: Type.Optional(rule),
  keywordIds: Type.Optional(Type.Array(Type.String())),
};
const pinnedUrls = Type.Optional(Type.Array(Type.String()));

/** Groups of keywords and of pages: owners and admins make and change them, and look first what a rule would select. */
export function addGroupActions(add: AddAction, context: Context, stores: Stores): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/groups',
    roles: MANAGERS,
    status: 201,
    body: Type.Object({ name, kind: oneOf('GroupKind', ['folder', 'manual', 'rule']), ...fields }, strict),
    run: async ({ project, body, by, at, submission }) =>
      groupAnswer(await addGroup(stores.catalog, project!.id, body, { by, at, submission })),
  });
  add({
    method: 'POST',
    url: '/projects/:id/groups/preview',
    creates: false,
    roles: MANAGERS,
    body: Type.Object({ rule }, strict),
    run: async (call) => {
      requireGroupRule(call.body.rule, 'keywords');
      return previewGroup(context, previewOf(call), call.body.rule);
    },
  });
  const find = async ({ project, ids }: Wanted): Promise<{ project: string; id: string }> => {
    const key = { project: project!.id, id: ids['group']! };
    if (!(await groupExists(context.catalog, key.project, key.id))) throw notFound('The project has no such group.');
    return key;
  };
  add({
    method: 'GET',
    url: '/projects/:id/groups/:group',
    roles: MANAGERS,
    find,
    run: async ({ found }) => groupAnswer(await findGroup(context.catalog, found)),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/groups/:group',
    roles: MANAGERS,
    body: Type.Object({ name: Type.Optional(name), ...fields }, strict),
    find,
    run: async ({ found, body, by, at, version }) =>
      groupAnswer(await changeGroup(stores.catalog, found, body, { by, at, version })),
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/groups/:group',
    roles: MANAGERS,
    find,
    run: ({ found, by, at }) => removeGroup(stores.catalog, found, { by, at }),
  });
  addPageGroupActions(add, context, stores);
}

function addPageGroupActions(add: AddAction, context: Context, stores: Stores): void {
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/page-groups',
    roles: MANAGERS,
    status: 201,
    body: Type.Object({ name, rule, pinnedUrls }, strict),
    run: async ({ project, body, by, at, submission }) =>
      pageGroupAnswer(await addPageGroup(stores.catalog, project!.id, body, { by, at, submission })),
  });
  add({
    method: 'POST',
    url: '/projects/:id/page-groups/preview',
    creates: false,
    roles: MANAGERS,
    body: Type.Object({ rule, pinnedUrls }, strict),
    run: async (call) => {
      const group = { pinnedUrls: [], ...call.body };
      requireGroupRule(group.rule, 'pages');
      requirePinned(group.pinnedUrls);
      return previewPageGroup(context, previewOf(call), group);
    },
  });
  const find = async ({
    project,
    ids,
  }: Wanted): Promise<{ key: { project: string; id: string }; group: PageGroup }> => {
    const key = { project: project!.id, id: ids['group']! };
    const group = (await listPageGroups(context.catalog, key.project)).find(({ id }) => id === key.id);
    if (group === undefined) throw notFound('The project has no such page group.');
    return { key, group };
  };
  add({
    method: 'GET',
    url: '/projects/:id/page-groups/:group',
    roles: MANAGERS,
    find,
    run: ({ found: { group } }) => pageGroupAnswer(group),
  });
  add({
    method: 'PATCH',
    edits: true,
    url: '/projects/:id/page-groups/:group',
    roles: MANAGERS,
    body: Type.Object({ name: Type.Optional(name), rule: Type.Optional(rule), pinnedUrls }, strict),
    find,
    run: async ({ found: { key }, body, by, at, version }) =>
      pageGroupAnswer(await changePageGroup(stores.catalog, key, body, { by, at, version })),
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/page-groups/:group',
    roles: MANAGERS,
    find,
    run: ({ found: { key }, by, at }) => removePageGroup(stores.catalog, key, { by, at }),
  });
}

const groupAnswer = (group: GroupWithMembers) => ({ group, version: groupVersion(group) });
const pageGroupAnswer = (group: PageGroup) => ({ pageGroup: group, version: pageGroupVersion(group) });

/** The question of a preview. */
export function previewOf({ project, by, signal }: Call<unknown, unknown>): PreviewRequest {
  return { project: project!, reader: by, signal };
}
