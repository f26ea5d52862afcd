import type { Catalog } from './catalog.ts';
import { type Covered, readCoverage } from './manifest.ts';
import { listAllProjects } from './projects.ts';

/** Everything that is deleted with a project. */
export interface ProjectContents {
  readonly id: string;
  readonly workspace: string;
  readonly property: string;
  readonly keywords: number;
  readonly groups: number;
  readonly groupMembers: number;
  readonly pageGroups: number;
  readonly alerts: number;
  readonly notes: number;
  readonly connections: number;
  /** Stored page and query lists. */
  readonly lists: number;
  /** Files of facts, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  readonly facts: Covered;
}

/** Everything that is deleted with a workspace. */
export interface WorkspaceContents {
  readonly id: string;
  readonly name: string;
  /** Active API keys. */
  readonly keys: number;
  readonly revokedKeys: number;
  readonly members: number;
  /** Notes without a project. */
  readonly notes: number;
  readonly projects: readonly ProjectContents[];
}

/** Undefined when there is no such project. */
export async function readProjectContents(catalog: Catalog, project: string): Promise<ProjectContents | undefined> {
  const contents = await catalog.statements.get<Omit<ProjectContents, 'facts'>>('projects.contents', { project });
  return contents && { ...contents, facts: await readCoverage(catalog, project) };
}

/** Undefined when there is no such workspace. */
export async function readWorkspaceContents(
  catalog: Catalog,
  workspace: string,
): Promise<WorkspaceContents | undefined> {
  return catalog.snapshot(async (snapshot) => {
    const contents = await snapshot.statements.get<Omit<WorkspaceContents, 'projects'>>('workspaces.contents', {
      workspace,
    });
    if (contents === undefined) return undefined;
    const projects: ProjectContents[] = [];
    for (const { id } of await listAllProjects(snapshot, workspace))
      projects.push((await readProjectContents(snapshot, id))!);
    return { ...contents, projects };
  });
}

/** Ids of a project's keywords, archived ones included. */
export async function listKeywordIds(catalog: Catalog, project: string): Promise<string[]> {
  const rows = await catalog.statements.all<{ id: string }>('keywords.ids', { project });
  return rows.map(({ id }) => id);
}
