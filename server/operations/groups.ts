import { type TSchema, Type } from 'typebox';
import { listAlertRules } from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { defaultsOf, type Entity, type FlagName, WORDS } from '../catalog/entities.ts';
import { rowOf, withoutProject } from '../catalog/entity-rows.ts';
import { listGroups, listMembers, listPageGroups } from '../catalog/keywords.ts';
import { listKeywordIds } from '../catalog/projects.ts';
import type { AlertRule } from '../domain/alert-rules.ts';
import { invalidRequest, KnownError } from '../domain/errors.ts';
import type { Group } from '../domain/groups.ts';
import { newShortId } from '../domain/ids.ts';
import { type Rule, ruleProblem } from '../domain/rules.ts';
import { compareTexts } from '../domain/texts.ts';
import { type EntityEdit, editEntities, entityRows } from '../load/entities.ts';
import { nullable, oneOf, rule, sentFlags } from '../presets/schemas.ts';
import { adds, changes, type Noun, OF_PROJECT, type ProjectPlace, reads, removes } from './operation.ts';
import { MANAGERS } from './rights.ts';

const MAX_NAME = 200;
const MAX_PINNED = 1000;
const MAX_PATH = 2000;

/** A group of keywords with the members that are not archived; null for other kinds than manual ones. */
interface KeywordGroup extends StoredGroup {
  readonly keywordIds: readonly string[] | null;
}

type StoredGroup = Entity<'groups'>;
type PageGroup = Entity<'page_groups'>;

const name = Type.Refine(
  Type.String({ description: `Its name, a line of 1 to ${MAX_NAME} characters.` }),
  (text) => text.trim() !== '' && text.trim().length <= MAX_NAME && !/\p{Cc}|\p{Cs}/u.test(text.trim()),
  () => `must be a line of text of 1 to ${MAX_NAME} characters`,
);
export const pinnedUrls = Type.Refine(
  Type.Array(Type.String(), { description: 'Paths of pages that belong to it whatever its rule says.' }),
  (paths) => paths.length <= MAX_PINNED && paths.every((path) => path.startsWith('/') && path.length <= MAX_PATH),
  () => `must be at most ${MAX_PINNED} paths of pages, such as /blog/best`,
);
const described = <Schema extends TSchema>(schema: Schema, description: string): Schema => ({ ...schema, description });

const fields = {
  parentId: Type.Optional(nullable(Type.String(), 'The folder that it is in; null for none.')),
  ...sentFlags('groups'),
  rule: Type.Optional(described(rule, 'Which keywords it has; for groups of kind rule.')),
  keywordIds: Type.Optional(
    Type.Array(Type.String(), { description: 'All keywords of a manual group; archived ones stay.' }),
  ),
};

const pageRule = described(rule, 'Which pages it has; conditions test the path.');

const GROUP: Noun<ProjectPlace, KeywordGroup> = {
  name: 'group',
  plural: 'groups',
  of: OF_PROJECT,
  find: (catalog, { project }, id) => findGroup(catalog, project, id),
  missing: 'The project has no such group.',
  edited: ({ id: _id, projectId: _project, kind: _kind, position: _position, ...group }) => group,
  show: withoutProject,
  audited: ({ id, projectId: project, name, kind }) => ({ subject: id, details: { project, name, kind } }),
};

const PAGE_GROUP: Noun<ProjectPlace, PageGroup> = {
  name: 'group',
  plural: 'page-groups',
  key: 'pageGroup',
  of: OF_PROJECT,
  find: async (catalog, { project: projectId }, id) => {
    const found = (await listPageGroups(catalog, projectId)).find((group) => group.id === id);
    return found && { ...found, projectId };
  },
  missing: 'The project has no such page group.',
  edited: ({ id: _id, projectId: _project, position: _position, ...group }) => group,
  show: withoutProject,
  audited: ({ id, projectId: project, name }) => ({ subject: id, details: { project, name } }),
};

/** Groups of keywords and of pages: owners and admins make and change them. */
export const GROUP_OPERATIONS = [
  reads(GROUP, MANAGERS),
  adds(GROUP, {
    roles: MANAGERS,
    audit: 'group.created',
    fields: {
      name,
      kind: oneOf('GroupKind', WORDS.groupKind, 'Its kind, which cannot be changed.'),
      ...fields,
    },
    run: async ({ tx, place: { project }, input: { kind, ...input } }) => {
      const groups = await listGroups(tx, project);
      return write(tx, { ...defaultsOf('groups'), projectId: project, ...newPlace(groups), kind, name: '' }, input);
    },
  }),
  changes(GROUP, {
    roles: MANAGERS,
    audit: 'group.changed',
    fields: { name: Type.Optional(name), ...fields },
    run: ({ tx, input, found }) => write(tx, found, input),
  }),
  removes(GROUP, {
    roles: MANAGERS,
    audit: 'group.removed',
    gone: GROUP.missing,
    run: async ({ tx, found }) => {
      await requireEmpty(tx, found);
      await requireUnused(tx, { project: found.projectId, id: found.id, scope: 'group' });
      await editEntities(tx, ({ remove }) => remove('groups', [rowOf('groups', found)]));
    },
  }),
  reads(PAGE_GROUP, MANAGERS),
  adds(PAGE_GROUP, {
    roles: MANAGERS,
    audit: 'page_group.created',
    fields: { name, rule: pageRule, pinnedUrls: Type.Optional(pinnedUrls) },
    run: async ({ tx, place: { project }, input }) => {
      requirePageRule(input.rule);
      const groups = await listPageGroups(tx, project);
      return writePageGroup(tx, { ...defaultsOf('page_groups'), projectId: project, ...newPlace(groups), ...input });
    },
  }),
  changes(PAGE_GROUP, {
    roles: MANAGERS,
    audit: 'page_group.changed',
    fields: { name: Type.Optional(name), rule: Type.Optional(pageRule), pinnedUrls: Type.Optional(pinnedUrls) },
    check: ({ rule: sent }) => requirePageRule(sent),
    run: ({ tx, input, found }) => writePageGroup(tx, { ...found, ...input }),
  }),
  removes(PAGE_GROUP, {
    roles: MANAGERS,
    audit: 'page_group.removed',
    gone: PAGE_GROUP.missing,
    run: async ({ tx, found }) => {
      await requireUnused(tx, { project: found.projectId, id: found.id, scope: 'page_group' });
      await editEntities(tx, ({ remove }) => remove('page_groups', [rowOf('page_groups', found)]));
    },
  }),
];

/** Throws `invalid_request` for a rule that no group can have. */
export function requireGroupRule(rule: Rule, of: 'keywords' | 'pages'): void {
  const hasField = of === 'pages' && rule.conditions.some(({ field }) => field !== undefined);
  const problem = hasField ? 'conditions of page groups have no field; they test the path' : ruleProblem(rule, of);
  if (problem !== undefined) throw invalidRequest(`'rule': ${problem}.`);
}

/** Rules of snapshots may have other fields, and keep them. */
function requirePageRule(sent: Rule | undefined): void {
  if (sent !== undefined) requireGroupRule(sent, 'pages');
}

/** An id that none of these groups has, and the last place among them. */
function newPlace(groups: readonly Pick<Group, 'id' | 'position'>[]): { id: string; position: number } {
  const ids = new Set(groups.map(({ id }) => id));
  let id = newShortId();
  while (ids.has(id)) id = newShortId();
  return { id, position: groups.reduce((last, { position }) => Math.max(last, position), 0) + 1 };
}

/** What a member sets of a group. */
interface GroupInput extends Partial<Record<FlagName<'groups'>, boolean>> {
  readonly name?: string;
  readonly parentId?: string | null;
  readonly rule?: Rule;
  readonly keywordIds?: readonly string[];
}

async function write(
  tx: Catalog,
  before: StoredGroup,
  { rule, keywordIds, name = before.name, ...input }: GroupInput,
): Promise<KeywordGroup> {
  const group = { ...before, ...input, name: name.trim(), rule: ruleOf(before, rule) };
  requireFolder(group, await listGroups(tx, group.projectId));
  if (keywordIds !== undefined && group.kind !== 'manual')
    throw invalidRequest(`'keywordIds' is for groups of kind manual, not ${group.kind}.`);
  await editEntities(tx, async (edit) => {
    await edit.put('groups', [rowOf('groups', group)]);
    if (keywordIds !== undefined) await setMembers(edit, group, keywordIds);
  });
  const written = await findGroup(tx, group.projectId, group.id);
  if (written === undefined) throw new Error(`The group '${group.id}' was not written.`);
  return written;
}

async function findGroup(catalog: Catalog, project: string, id: string): Promise<KeywordGroup | undefined> {
  const found = (await listGroups(catalog, project)).find((one) => one.id === id);
  if (found === undefined) return undefined;
  const group = { ...found, projectId: project };
  if (group.kind !== 'manual') return { ...group, keywordIds: null };
  const members = (await listMembers(catalog, project, id)).filter(({ archived }) => !archived);
  return { ...group, keywordIds: members.map((member) => member.id).toSorted(compareTexts) };
}

function ruleOf({ kind, rule: before }: StoredGroup, rule: Rule | undefined): Rule | null {
  if (kind !== 'rule') {
    if (rule !== undefined) throw invalidRequest(`'rule' is for groups of kind rule, not ${kind}.`);
    return null;
  }
  if (rule !== undefined) requireGroupRule(rule, 'keywords');
  else if (before === null) throw invalidRequest("'rule' must be sent with kind rule.");
  return rule ?? before;
}

/** Throws if the parent of a group is no folder, or one that the group contains. */
function requireFolder({ id, parentId }: StoredGroup, groups: readonly Group[]): void {
  if (parentId === null) return;
  const folders = new Map(groups.filter(({ kind }) => kind === 'folder').map((group) => [group.id, group]));
  if (!folders.has(parentId)) throw invalidRequest("'parentId' must be the id of a folder of the project, or null.");
  for (let at = folders.get(parentId); at !== undefined; at = folders.get(at.parentId ?? '')) {
    if (at.id === id) throw invalidRequest("'parentId' must not be the folder itself, or one that is in it.");
  }
}

/** Replaces the members that are not archived: those that are would be missed when they are tracked again. */
async function setMembers(
  { tx, put, remove }: EntityEdit,
  { projectId: project, id: group }: StoredGroup,
  keywordIds: readonly string[],
): Promise<void> {
  const known = new Set(await listKeywordIds(tx, project));
  const unknown = keywordIds.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw invalidRequest(`'keywordIds': the project has no keyword '${unknown.slice(0, 40)}'.`);
  const members = await listMembers(tx, project, group);
  const wanted = new Set(keywordIds);
  const rowOfMember = (keyword: string) => ({ project_id: project, group_id: group, keyword_id: keyword });
  const gone = members.filter(({ id, archived }) => !archived && !wanted.has(id));
  await remove(
    'group_members',
    gone.map(({ id }) => rowOfMember(id)),
  );
  const added = wanted.difference(new Set(members.map(({ id }) => id)));
  await put('group_members', [...added].map(rowOfMember));
}

async function requireEmpty(tx: Catalog, { projectId: project, id }: StoredGroup): Promise<void> {
  const inside = (await listGroups(tx, project)).filter(({ parentId }) => parentId === id);
  if (inside.length === 0) return;
  const names = inside.slice(0, 3).map((group) => `'${group.name}'`);
  throw new KnownError('conflict', `Move or remove first what is in the folder: ${names.join(', ')}.`);
}

/** Throws `conflict` if rules of alerts or notes are about a group, because they would be about nothing. */
async function requireUnused(
  tx: Catalog,
  { project, scope, id }: { readonly project: string; readonly scope: AlertRule['scope']; readonly id: string },
): Promise<void> {
  const rules = (await listAlertRules(tx, project)).filter(({ rule }) => rule.scope === scope && rule.id === id);
  const notes = (await entityRows(tx, 'notes', project)).filter((note) => scope === 'group' && note['group_id'] === id);
  if (rules.length + notes.length === 0) return;
  const users = [
    ...rules.map((rule) => `the alert rule '${rule.name}'`),
    ...notes.map(({ date, text }) => `the note of ${String(date)} '${String(text).slice(0, 40)}'`),
  ];
  const more = users.length > 3 ? ` and ${users.length - 3} more` : '';
  throw new KnownError('conflict', `Remove first what is about the group: ${users.slice(0, 3).join(', ')}${more}.`);
}

async function writePageGroup(tx: Catalog, group: PageGroup): Promise<PageGroup> {
  const written = { ...group, name: group.name.trim(), pinnedUrls: [...new Set(group.pinnedUrls)] };
  await editEntities(tx, ({ put }) => put('page_groups', [rowOf('page_groups', written)]));
  // The answer has its fields in the order in which they are read.
  const found = (await listPageGroups(tx, group.projectId)).find(({ id }) => id === group.id);
  if (found === undefined) throw new Error(`The page group '${group.id}' was not written.`);
  return { ...found, projectId: group.projectId };
}
