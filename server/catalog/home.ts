import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { Alert } from './events.ts';

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
export async function setFavourite(catalog: Catalog, project: string, email: string, isMarked: boolean): Promise<void> {
  const statement = isMarked ? 'home.add_favourite' : 'home.remove_favourite';
  await catalog.transaction(async (tx) => void (await tx.statements.run(statement, { project, email })));
}
