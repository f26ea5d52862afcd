import type { KeepDays } from '../domain/retention.ts';
import { checkEmailAddress } from '../domain/texts.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';

export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** `free` has no API access; any other name is a paid plan. */
  readonly plan: string;
  readonly keywordHistoryDays: number;
  readonly keepDays: KeepDays;
  /** Requests that each of its keys may send in a minute; null: the default. */
  readonly requestsPerMinute: number | null;
}

export const ROLES = ['owner', 'admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

export async function listWorkspaces(catalog: Catalog): Promise<(Workspace & { projects: number })[]> {
  return catalog.statements.all('workspaces.all');
}

export async function findWorkspace(catalog: Catalog, id: string): Promise<Workspace | undefined> {
  return catalog.statements.get<Workspace>('workspaces.one', { id });
}

/** Throws if the id is already used. */
export async function createWorkspace(
  catalog: Catalog,
  workspace: Omit<Workspace, 'requestsPerMinute' | 'keepDays'> & Partial<Workspace>,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await findWorkspace(tx, workspace.id)) !== undefined) {
      throw new Error(`There is already a workspace '${workspace.id}'.`);
    }
    const { id, name, plan, keywordHistoryDays: days, requestsPerMinute: requests = null, keepDays = null } = workspace;
    await tx.statements.run('workspaces.add', { id, name, plan, days, requests, keepDays });
    const details = { name, plan };
    await recordAudit(tx, { workspace: id, actor: actorOf(null), action: 'workspace.created', subject: id, details });
  });
}

/** Sets how many requests each key of a workspace may send in a minute; null for the default. */
export async function setRequestsPerMinute(catalog: Catalog, id: string, requests: number | null): Promise<void> {
  await catalog.transaction(async (tx) => {
    await requireWorkspace(tx, id);
    await tx.statements.run('workspaces.set_requests', { id, requests });
    const details = { requestsPerMinute: requests };
    await recordAudit(tx, { workspace: id, actor: actorOf(null), action: 'workspace.changed', subject: id, details });
  });
}

/** Sets how many days of facts a workspace keeps. Throws if it does not exist. */
export async function setKeepDays(catalog: Catalog, id: string, keepDays: KeepDays): Promise<void> {
  await catalog.transaction(async (tx) => {
    await requireWorkspace(tx, id);
    await tx.statements.run('workspaces.set_keep_days', { id, keepDays });
    const details = { keepDays };
    await recordAudit(tx, { workspace: id, actor: actorOf(null), action: 'workspace.changed', subject: id, details });
  });
}

/** Deletes a workspace with its projects, members and keys. Files are retired. */
export async function deleteWorkspace(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('workspaces.remove', { workspace: id });
}

/** A member of a workspace. */
export interface MemberOf {
  readonly email: string;
  readonly role: Role;
}

export async function listMembers(catalog: Catalog, workspace: string): Promise<MemberOf[]> {
  await requireWorkspace(catalog, workspace);
  const members = await catalog.statements.all<MemberOf>('members.of_workspace', { workspace });
  return members.sort((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1));
}

/** A member, whatever the case of the address; undefined for others. */
export function findMember(catalog: Catalog, workspace: string, email: string): Promise<MemberOf | undefined> {
  return catalog.statements.get<MemberOf>('members.one', { workspace, email });
}

/** The role of a member; undefined for others. */
export async function findRole(catalog: Catalog, workspace: string, email: string): Promise<Role | undefined> {
  return (await findMember(catalog, workspace, email))?.role;
}

/** Throws if the workspace does not exist. */
export async function requireWorkspace(catalog: Catalog, id: string): Promise<void> {
  if ((await findWorkspace(catalog, id)) !== undefined) return;
  throw new Error(
    `There is no workspace '${id}'; create it with: ordinate workspaces create --id ${id} --name ${id} --plan team`,
  );
}

/** Adds a member, or changes the role of one. */
export async function putMember(tx: Catalog, workspace: string, { email, role }: MemberOf): Promise<void> {
  const changed = await tx.statements.run('members.change_role', { workspace, email, role });
  if (changed === 0) await tx.statements.run('members.put', { workspace, email, role });
}

/** Removes a member, whose sessions end. */
export async function removeMember(tx: Catalog, workspace: string, email: string): Promise<void> {
  await tx.statements.run('members.remove', { workspace, email });
  // They must not count again if the address becomes a member again.
  await tx.statements.run('members.end_sessions', { workspace, email });
  await tx.statements.run('members.remove_links', { workspace, email });
  await tx.statements.run('members.remove_invitations', { workspace, email });
}

/** Adds a member or changes their role, by command: whoever runs it can also make another owner. */
export async function addMember(catalog: Catalog, workspace: string, email: string, role: Role): Promise<void> {
  const member = { email: checkEmailAddress(email), role };
  await catalog.transaction(async (tx) => {
    await requireWorkspace(tx, workspace);
    await putMember(tx, workspace, member);
    const entry = { at: Date.now() * 1000, workspace, actor: actorOf(null), action: 'member.set' as const };
    await recordAudit(tx, { ...entry, subject: member.email, details: { role } });
  });
}
