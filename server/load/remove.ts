import type { Catalog } from '../catalog/catalog.ts';
import {
  type ProjectContents,
  readProjectContents,
  readWorkspaceContents,
  type WorkspaceContents,
} from '../catalog/contents.ts';
import type { Settings } from '../settings.ts';
import { withLoadLock } from './lock.ts';

type Stores = { readonly settings: Settings; readonly catalog: Catalog };

/** How long a removal waits for a load to end, in milliseconds. */
const LOCK_TIMEOUT = 600_000;

/**
 * Deletes a project with all that belongs to it, while no load runs. Its files are retired: a later load removes them, once
 * no request can be reading them. Returns what went; throws when there is no such project.
 */
export function removeProject(stores: Stores, id: string, onWait: () => void): Promise<ProjectContents> {
  return whileNoLoadRuns(stores, onWait, ({ catalog }) => {
    const contents = readProjectContents(catalog, id);
    if (contents === undefined) throw new Error(`There is no project '${id}'.`);
    catalog.run('project_delete', { project: id });
    return contents;
  });
}

/** As `removeProject`, for a workspace with its projects, members and keys. */
export function removeWorkspace(stores: Stores, id: string, onWait: () => void): Promise<WorkspaceContents> {
  return whileNoLoadRuns(stores, onWait, ({ catalog }) => {
    const contents = readWorkspaceContents(catalog, id);
    if (contents === undefined) throw new Error(`There is no workspace '${id}'.`);
    catalog.run('workspace_delete', { workspace: id });
    return contents;
  });
}

/** Runs writes in one transaction: a load that ran at the same time would have read what they take away. */
function whileNoLoadRuns<T>(stores: Stores, onWait: () => void, writes: (stores: Stores) => T): Promise<T> {
  const { catalog, settings } = stores;
  return withLoadLock(settings.dataFolder, { patience: LOCK_TIMEOUT, onWait }, async () =>
    catalog.transaction(() => writes(stores)),
  );
}
