import type { Catalog } from '../catalog/catalog.ts';
import { listGroups, listMembers } from '../catalog/keywords.ts';
import { listKeywordIds } from '../catalog/projects.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import type { Group } from '../domain/groups.ts';
import type { Rule } from '../domain/rules.ts';
import { compareTexts } from '../domain/texts.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { changeEntities, createEntities, type EntityEdit, entityRowOfProject, entityRows } from '../load/entities.ts';
import type { Row } from '../load/publish.ts';
import { auditGroup, groupName, newGroup, requireUnused, ruleText } from './group-checks.ts';
import type { Creator, Editor, Writer } from './notes.ts';

/** What a member sets of a group. Left out of a change, it stays the same. */
export interface GroupFields {
  readonly name?: string;
  /** The folder that contains it; null for none. */
  readonly parentId?: string | null;
  readonly pinned?: boolean;
  /** Of groups by rule only. */
  readonly rule?: Rule;
  /** The members of a manual group; archived ones stay. */
  readonly keywordIds?: readonly string[];
}

export interface NewGroup extends GroupFields {
  readonly name: string;
  readonly kind: Group['kind'];
}

/** A group with the members that are not archived; null for other kinds than manual ones. */
export interface GroupWithMembers extends Group {
  readonly keywordIds: readonly string[] | null;
}

/** Identifies what members edit of a group. */
export function groupVersion({ name, parentId, pinned, rule, keywordIds }: GroupWithMembers): string {
  return versionOf({ name, parentId, pinned, rule, keywordIds });
}

/** A group with its members. Throws `not_found`. */
export function findGroup(catalog: Catalog, key: { project: string; id: string }): Promise<GroupWithMembers> {
  return catalog.snapshot(async (snapshot) => answerOf(snapshot, await requireGroup(snapshot, key)));
}

/** Adds a group behind the others. Throws `invalid_request` with the name of the wrong field. */
export function addGroup(
  catalog: Catalog,
  project: string,
  { kind, ...fields }: NewGroup,
  { submission, ...writer }: Creator,
): Promise<GroupWithMembers> {
  return createEntities(catalog, submission, async (change) => {
    const groups = await entityRows(change.tx, 'groups', project);
    const row = { project_id: project, ...newGroup(groups), name: '', kind, parent_id: null, pinned: 0, rule: null };
    return write(change, { row, fields, groups }, { action: 'group.created', ...writer });
  });
}

/** Changes a group. Throws `not_found`, `outdated` and `invalid_request`. */
export function changeGroup(
  catalog: Catalog,
  key: { project: string; id: string },
  fields: GroupFields,
  { version, ...writer }: Editor,
): Promise<GroupWithMembers> {
  return changeEntities(catalog, async (change) => {
    const groups = await entityRows(change.tx, 'groups', key.project);
    const row = await requireGroup(change.tx, key);
    requireVersion(groupVersion(await answerOf(change.tx, row)), version);
    return write(change, { row, fields, groups }, { action: 'group.changed', ...writer });
  });
}

/** Removes a group; its keywords stay. Throws `not_found`, and `conflict` while something is in it or about it. */
export function removeGroup(catalog: Catalog, key: { project: string; id: string }, writer: Writer): Promise<void> {
  return changeEntities(catalog, async ({ tx, remove }) => {
    const row = await requireGroup(tx, key);
    const inside = (await entityRows(tx, 'groups', key.project)).filter((group) => group['parent_id'] === key.id);
    if (inside.length > 0) {
      const names = inside.slice(0, 3).map(({ name }) => `'${String(name)}'`);
      throw new KnownError('conflict', `Move or remove first what is in the folder: ${names.join(', ')}.`);
    }
    await requireUnused(tx, { ...key, scope: 'group' });
    await remove('groups', [row]);
    await auditGroup(tx, row, { action: 'group.removed', ...writer });
  });
}

interface Writing {
  readonly row: Row;
  readonly fields: GroupFields;
  readonly groups: readonly Row[];
}

async function write(
  change: EntityEdit,
  { row: before, fields, groups }: Writing,
  audited: Parameters<typeof auditGroup>[2],
): Promise<GroupWithMembers> {
  const { name, parentId, pinned, keywordIds } = fields;
  const row: Row = {
    ...before,
    ...(name !== undefined && { name: groupName(name) }),
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(pinned !== undefined && { pinned: Number(pinned) }),
    rule: ruleOf(before, fields.rule),
  };
  requireFolder(row, groups);
  if (keywordIds !== undefined && row['kind'] !== 'manual') {
    throw invalidRequest(`'keywordIds' is for groups of kind manual, not ${String(row['kind'])}.`);
  }
  await change.put('groups', [row]);
  if (keywordIds !== undefined) await setMembers(change, row, keywordIds);
  await auditGroup(change.tx, row, audited);
  return answerOf(change.tx, row);
}

function ruleOf({ kind, rule: before }: Row, rule: Rule | undefined): string | null {
  if (kind !== 'rule') {
    if (rule !== undefined) throw invalidRequest(`'rule' is for groups of kind rule, not ${String(kind)}.`);
    return null;
  }
  if (rule !== undefined) return ruleText(rule, 'keywords');
  if (before === null) throw invalidRequest("'rule' must be sent with kind rule.");
  return before as string;
}

/** Throws if the parent of a group is no folder, or one that the group contains. */
function requireFolder({ id, parent_id: parent }: Row, groups: readonly Row[]): void {
  if (parent === null) return;
  const folders = new Map(groups.filter(({ kind }) => kind === 'folder').map((group) => [group['id'], group]));
  if (!folders.has(parent!)) throw invalidRequest("'parentId' must be the id of a folder of the project, or null.");
  for (let at = folders.get(parent!); at !== undefined; at = folders.get(at['parent_id']!)) {
    if (at['id'] === id) throw invalidRequest("'parentId' must not be the folder itself, or one that is in it.");
  }
}

/** Replaces the members that are not archived: those that are would be missed when they are tracked again. */
async function setMembers({ tx, put, remove }: EntityEdit, row: Row, keywordIds: readonly string[]): Promise<void> {
  const { project_id: project, id: group } = row;
  const known = new Set(await listKeywordIds(tx, project as string));
  const unknown = keywordIds.find((id) => !known.has(id));
  if (unknown !== undefined) {
    throw invalidRequest(`'keywordIds': the project has no keyword '${unknown.slice(0, 40)}'.`);
  }
  const members = await listMembers(tx, project as string, group as string);
  const wanted = new Set(keywordIds);
  const rowOf = (keyword: string): Row => ({ project_id: project!, group_id: group!, keyword_id: keyword });
  const gone = members.filter(({ id, archived }) => !archived && !wanted.has(id));
  await remove(
    'group_members',
    gone.map(({ id }) => rowOf(id)),
  );
  const added = wanted.difference(new Set(members.map(({ id }) => id)));
  await put('group_members', [...added].map(rowOf));
}

async function answerOf(tx: Catalog, row: Row): Promise<GroupWithMembers> {
  const group = (await listGroups(tx, row['project_id'] as string)).find(({ id }) => id === row['id'])!;
  if (group.kind !== 'manual') return { ...group, keywordIds: null };
  const members = (await listMembers(tx, row['project_id'] as string, row['id'] as string)).filter(
    ({ archived }) => !archived,
  );
  return { ...group, keywordIds: members.map(({ id }) => id).toSorted(compareTexts) };
}

async function requireGroup(tx: Catalog, key: { project: string; id: string }): Promise<Row> {
  const row = await entityRowOfProject(tx, 'groups', key);
  if (row === undefined) throw notFound('The project has no such group.');
  return row;
}
