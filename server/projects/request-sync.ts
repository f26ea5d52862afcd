import { recordAudit, type Writer } from '../catalog/audit.ts';
import { connectionsOf } from '../catalog/connections.ts';
import type { Project } from '../catalog/projects.ts';
import { putSyncRequest } from '../catalog/sync-projects.ts';
import { KnownError } from '../domain/errors.ts';
import type { Stores } from '../load/stores.ts';

/** Has background jobs sync a project as soon as they can, also days that are fresh. Throws `conflict`. */
export async function requestSync(
  { settings, catalog }: Stores,
  { id, workspaceId: workspace }: Pick<Project, 'id' | 'workspaceId'>,
  { by: actor, at }: Writer,
): Promise<void> {
  if (!settings.sync) {
    throw new KnownError('conflict', 'Jobs of this server sync nothing (ORDINATE_SYNC=off); `ordinate sync` does.');
  }
  await catalog.transaction(async (tx) => {
    if (!(await connectionsOf(tx, id)).some(({ kind }) => kind === 'search-console')) {
      throw new KnownError('conflict', 'The project has no connection to Search Console; connect it first.');
    }
    await putSyncRequest(tx, id, at);
    await recordAudit(tx, { at, workspace, actor, action: 'sync.requested', subject: id });
  });
}
