import { hash } from 'node:crypto';
import { type BrandTerm, brandTermsOf } from '../domain/brand-terms.ts';
import type { Day } from '../domain/dates.ts';
import { newShortId } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { SYNC_STATES } from '../domain/rules.ts';
import type { Alert } from './alerts.ts';
import type { Catalog, Values } from './catalog.ts';
import type { Entity } from './entities.ts';
import { entityOf } from './entity-rows.ts';
import { type Covered, readCoverage } from './fact-files.ts';

/** What projects have beside their fields. */
interface Progress {
  /** From the workspace's plan. */
  readonly keywordHistoryDays: number;
  /** Incremented when fact files of the project change. Part of the cache key of results computed from facts. */
  readonly factsRevision: number;
  /** Incremented when the project, its plan's history, its keywords or its groups change. Alerts and notes are not cached. */
  readonly entitiesRevision: number;
  /** Keywords that are not archived. */
  readonly trackedKeywords: number;
}

export interface Project extends Omit<Entity<'projects'>, 'brandTerms' | 'brandWords' | 'syncStatus'>, Progress {
  readonly syncStatus: (typeof SYNC_STATES)[number];
  readonly brandTerms: readonly BrandTerm[];
}

/** A row of a project. */
type ProjectRow = Values & Progress;

function toProject(row: ProjectRow): Project {
  const { brandTerms, brandWords, ...project } = entityOf('projects', row);
  const { keywordHistoryDays, factsRevision, entitiesRevision, trackedKeywords } = row;
  return {
    ...project,
    // Loads derive it where it is left out.
    syncStatus: project.syncStatus!,
    brandTerms: brandTermsOf({ texts: brandTerms, words: brandWords }),
    ...{ keywordHistoryDays, factsRevision, entitiesRevision, trackedKeywords },
  };
}

/** Whether a project is among those that a key may read; null for all of its workspace. */
export function isReadable(readable: readonly string[] | null, id: string): boolean {
  return readable === null || readable.includes(id);
}

/**
 * The projects of a workspace that have finished setup, oldest first.
 * @param readable the ids of those to list; null for all
 */
async function listProjects(
  catalog: Catalog,
  workspace: string,
  readable: readonly string[] | null,
): Promise<Project[]> {
  const rows = await catalog.statements.all<ProjectRow>('projects.of_workspace', { workspace });
  return rows.filter(({ id }) => isReadable(readable, String(id))).map(toProject);
}

/** Projects of a workspace that have finished setup, in one state. */
export interface WorkspaceProjects {
  readonly workspaceId: string;
  /** Oldest first. */
  readonly projects: readonly Project[];
  /** Differs for each state; results computed from the projects depend on nothing else of them. */
  readonly revision: string;
}

/**
 * The projects of a workspace with their common revision.
 * @param readable the ids of those to read; null for all
 */
export async function readWorkspaceProjects(
  catalog: Catalog,
  workspaceId: string,
  readable: readonly string[] | null,
): Promise<WorkspaceProjects> {
  const projects = await listProjects(catalog, workspaceId, readable);
  // A sync that changes nothing else raises no revision.
  const states = projects.map(({ id, factsRevision, entitiesRevision, lastSyncedAt }) => [
    id,
    factsRevision,
    entitiesRevision,
    lastSyncedAt,
  ]);
  return { workspaceId, projects, revision: hash('sha256', JSON.stringify(states), 'base64url') };
}

/** A project of a workspace that has finished setup. */
export async function findProject(catalog: Catalog, workspace: string, id: string): Promise<Project | undefined> {
  const row = await catalog.statements.get<ProjectRow>('projects.one', { id, workspace });
  return row && toProject(row);
}

/** A project of any workspace, including projects with unfinished setup. */
export async function findAnyProject(catalog: Catalog, id: string): Promise<Project | undefined> {
  const row = await catalog.statements.get<ProjectRow>('projects.any', { id });
  return row && toProject(row);
}

/** Like `findAnyProject`, but throws if the project does not exist. */
export async function requireProject(catalog: Catalog, id: string): Promise<Project> {
  const project = await findAnyProject(catalog, id);
  if (project === undefined) throw new Error(`There is no project '${id}'; projects list shows all.`);
  return project;
}

/** The project with data that tracks most keywords, but at most `most`. */
export function findLargestProject(
  catalog: Catalog,
  most: number,
): Promise<{ readonly id: string; readonly workspace: string } | undefined> {
  return catalog.statements.get('projects.largest', { most });
}

/** All projects of a workspace, or of all workspaces, including projects with unfinished setup. */
export async function listAllProjects(catalog: Catalog, workspace: string | null): Promise<Project[]> {
  const rows = await catalog.statements.all<ProjectRow>('projects.all', { workspace });
  return rows.map(toProject);
}

/** The projects of one property in a workspace, oldest first. */
export async function findProjectsOfProperty(
  catalog: Catalog,
  workspace: string,
  property: string,
): Promise<Project[]> {
  const rows = await catalog.statements.all<ProjectRow>('projects.by_property', { workspace, property });
  return rows.map(toProject);
}

export async function projectIdIsTaken(catalog: Catalog, id: string): Promise<boolean> {
  return (await catalog.statements.get('projects.exists', { id })) !== undefined;
}

/** An id that no project has yet. */
export async function newProjectId(catalog: Catalog): Promise<string> {
  let id = newShortId();
  while (await projectIdIsTaken(catalog, id)) id = newShortId();
  return id;
}

/** Deletes a project and everything that belongs to it. Its files are retired. */
export async function deleteProject(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('projects.remove', { project: id });
  await tx.statements.run('grants.remove_unused');
}

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

/** An alert with the id of its project. */
export type WorkspaceAlert = Pick<Alert, 'id' | 'type' | 'kind' | 'severity' | 'title' | 'createdAt' | 'resolvedAt'> & {
  readonly project: string;
  readonly date: Day | null;
};

/** The newest open alerts of all projects of a workspace. */
export async function listOpenAlerts(catalog: Catalog, workspace: string, limit: number): Promise<WorkspaceAlert[]> {
  return catalog.statements.all('alerts.of_workspace', { workspace, status: 'open', since: 0, limit });
}

/** Alerts of each project that has any: open ones, and those that opened since an instant. */
export async function countWorkspaceAlerts(
  catalog: Catalog,
  workspace: string,
  since: Microseconds,
): Promise<{ project: string; open: number; fresh: number }[]> {
  return catalog.statements.all('alerts.counts_of_workspace', { workspace, since });
}

/** Notes that were written since an instant. */
export async function countNotesSince(catalog: Catalog, workspace: string, since: Microseconds): Promise<number> {
  return (await catalog.statements.get<{ notes: number }>('notes.count_since', { workspace, since }))!.notes;
}

/** The tags of the projects of a workspace. */
export async function listTags(catalog: Catalog, workspace: string): Promise<{ project: string; tag: string }[]> {
  return catalog.statements.all('home.tags', { workspace });
}

/** The tags of a project. */
export async function listTagsOf(catalog: Catalog, workspace: string, project: string): Promise<string[]> {
  return (await listTags(catalog, workspace)).flatMap((one) => (one.project === project ? [one.tag] : []));
}

/** Replaces the tags of a project. */
export async function setTags(tx: Catalog, project: string, tags: readonly string[]): Promise<void> {
  await tx.statements.run('home.clear_tags', { project });
  for (const tag of tags) await tx.statements.run('home.add_tag', { project, tag });
}

/** The projects that a member has marked. */
export async function listFavourites(catalog: Catalog, workspace: string, email: string): Promise<string[]> {
  const rows = await catalog.statements.all<{ project: string }>('home.favourites', { workspace, email });
  return rows.map(({ project }) => project);
}

/** Marks a project for a member, or removes the mark. */
export async function setFavourite(tx: Catalog, project: string, email: string, isMarked: boolean): Promise<void> {
  await tx.statements.run(isMarked ? 'home.add_favourite' : 'home.remove_favourite', { project, email });
}

/** A view of a project that members have named. */
export interface SavedView {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  /** The screen and its parameters, below the address of the project: `/queries?change=up`. */
  readonly address: string;
  readonly author: string;
  readonly createdAt: Microseconds;
}

/** The views of a project, by name. */
export async function listSavedViews(catalog: Catalog, project: string): Promise<SavedView[]> {
  return catalog.statements.all<SavedView>('saved-views.of_project', { project, id: null });
}

export async function findSavedView(catalog: Catalog, project: string, id: string): Promise<SavedView | undefined> {
  return catalog.statements.get<SavedView>('saved-views.of_project', { project, id });
}

export async function addView(tx: Catalog, { createdAt: at, ...view }: SavedView): Promise<void> {
  await tx.statements.run('saved-views.add', { ...view, at });
}

/** Changes the name and the address of a view. */
export async function changeView(tx: Catalog, { id, name, address }: SavedView): Promise<void> {
  await tx.statements.run('saved-views.change', { id, name, address });
}

export async function removeView(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('saved-views.remove', { id });
}
