import { actorOf, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  deleteProject,
  type ProjectContents,
  readProjectContents,
  readWorkspaceContents,
  type WorkspaceContents,
} from '../catalog/projects.ts';
import { deleteWorkspace } from '../catalog/workspaces.ts';
import { changeFacts, type LockOptions } from './change-facts.ts';
import type { JournalRecord } from './journal.ts';
import { journaledTransaction } from './publish.ts';
import type { Stores } from './stores.ts';

/**
 * Deletes a project and everything that belongs to it, while no load runs. A later load removes its files, when no request
 * can still be reading them. Returns what was deleted; throws if the project does not exist.
 */
export function removeProject(stores: Stores, id: string, onWait: () => void): Promise<ProjectContents> {
  return whileNoLoadRuns(stores, { onWait }, async (catalog, record) => {
    const contents = await readProjectContents(catalog, id);
    if (contents === undefined) throw new Error(`There is no project '${id}'.`);
    await deleteProject(catalog, id);
    const { workspace, property } = contents;
    const details = { property, facts: contents.facts };
    await recordAudit(catalog, { workspace, actor: actorOf(null), action: 'project.removed', subject: id, details });
    await record.add({ remove: 'projects', row: { id } });
    return contents;
  });
}

/** Like `removeProject`, for a workspace with its projects, members and keys. */
export function removeWorkspace(stores: Stores, id: string, onWait: () => void): Promise<WorkspaceContents> {
  return whileNoLoadRuns(stores, { onWait }, async (catalog, record) => {
    const contents = await readWorkspaceContents(catalog, id);
    if (contents === undefined) throw new Error(`There is no workspace '${id}'.`);
    await deleteWorkspace(catalog, id);
    const details = { name: contents.name, projects: contents.projects.map((project) => project.id) };
    await recordAudit(catalog, {
      workspace: id,
      actor: actorOf(null),
      action: 'workspace.removed',
      subject: id,
      details,
    });
    for (const project of contents.projects) await record.add({ remove: 'projects', row: { id: project.id } });
    await record.add({ remove: 'workspaces', row: { id } });
    return contents;
  });
}

/**
 * Runs writes in one journaled transaction, so that a rebuilt catalog does not restore what was deleted. Holds the load
 * lock, because a concurrent load may have read the rows that are deleted.
 */
function whileNoLoadRuns<T>(
  stores: Stores,
  waiting: LockOptions,
  writes: (tx: Catalog, record: JournalRecord) => Promise<T>,
): Promise<T> {
  const { catalog } = stores;
  return changeFacts(stores, waiting, ({ lock, journal }) => journaledTransaction({ catalog, journal, lock }, writes));
}
