import type { Catalog } from './catalog.ts';
import { type Coverage, type FactTable, readCoverage } from './manifest.ts';
import { listAllProjects } from './projects.ts';

/** What belongs to a project, and goes when it goes. */
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
  readonly facts: Partial<Record<FactTable, Coverage>>;
}

/** What belongs to a workspace, and goes when it goes. */
export interface WorkspaceContents {
  readonly id: string;
  readonly name: string;
  /** Active API keys. */
  readonly keys: number;
  readonly revokedKeys: number;
  readonly members: number;
  /** Notes on no project. */
  readonly notes: number;
  readonly projects: readonly ProjectContents[];
}

/** Undefined when there is no such project. */
export async function readProjectContents(catalog: Catalog, project: string): Promise<ProjectContents | undefined> {
  const contents = await catalog.statements.get<Omit<ProjectContents, 'facts'>>('project_contents', { project });
  return contents && { ...contents, facts: await readCoverage(catalog, project) };
}

/** Undefined when there is no such workspace. */
export async function readWorkspaceContents(
  catalog: Catalog,
  workspace: string,
): Promise<WorkspaceContents | undefined> {
  return catalog.snapshot(async (own) => {
    const contents = await own.statements.get<Omit<WorkspaceContents, 'projects'>>('workspace_contents', { workspace });
    if (contents === undefined) return undefined;
    const projects: ProjectContents[] = [];
    for (const { id } of await listAllProjects(own, workspace)) projects.push((await readProjectContents(own, id))!);
    return { ...contents, projects };
  });
}
