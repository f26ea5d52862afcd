import type { Catalog } from './catalog.ts';

export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** `free` has no API access; any other name is a paid plan. */
  readonly plan: string;
  readonly keywordHistoryDays: number;
}

export const ROLES = ['owner', 'admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

export function listWorkspaces(catalog: Catalog): (Workspace & { projects: number })[] {
  return catalog.all('workspaces');
}

export function findWorkspace(catalog: Catalog, id: string): Workspace | undefined {
  return catalog.get<Workspace>('workspace', { id });
}

/** Throws when there is a workspace of this id already. */
export function createWorkspace(catalog: Catalog, workspace: Workspace): void {
  catalog.transaction(() => {
    if (findWorkspace(catalog, workspace.id) !== undefined) {
      throw new Error(`There is a workspace '${workspace.id}' already.`);
    }
    const { id, name, plan, keywordHistoryDays: days } = workspace;
    catalog.run('workspace_insert', { id, name, plan, days });
  });
}

/** Adds a member, or changes the role of one. */
export function addMember(catalog: Catalog, workspace: string, email: string, role: Role): void {
  if (findWorkspace(catalog, workspace) === undefined) throw new Error(`There is no workspace '${workspace}'.`);
  catalog.run('member_upsert', { workspace, email, role });
}

export function listMembers(catalog: Catalog, workspace: string): { email: string; role: Role }[] {
  if (findWorkspace(catalog, workspace) === undefined) throw new Error(`There is no workspace '${workspace}'.`);
  return catalog.all('members_of_workspace', { workspace });
}
