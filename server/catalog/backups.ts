import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { raiseAllRevisions } from './revisions.ts';
import { forgetStore } from './store-identity.ts';

/** A successful backup. It took `finishedAt - startedAt`. */
export interface LastBackup {
  /** The folder or address of the backup. */
  readonly target: string;
  readonly startedAt: Microseconds;
  readonly finishedAt: Microseconds;
  /** Fact files, and bytes of all files including the catalog. */
  readonly files: number;
  readonly bytes: number;
  /** Bytes that were not in the target before. */
  readonly copiedBytes: number;
}

/** The last successful backup of this data folder; undefined if there was none. */
export async function readLastBackup(catalog: Catalog): Promise<LastBackup | undefined> {
  return catalog.statements.get<LastBackup>('store.last_backup');
}

export async function putLastBackup(catalog: Catalog, backup: LastBackup): Promise<void> {
  await catalog.statements.run('store.put_last_backup', { ...backup });
}

/**
 * Removes from a restored catalog what its data folder does not have (lists, replaced files) and what must not be valid
 * again (sessions, one-time links, invitations). Raises all revisions above any that was served before. Requires a transaction.
 * @param options `keepsStore`: it is restored beside the store that it had, whose files are still there
 */
export async function settleRestored(tx: Catalog, { keepsStore }: { readonly keepsStore: boolean }): Promise<void> {
  if (!keepsStore) await forgetStore(tx);
  await tx.statements.run('lists.remove_all');
  // After the lists, because each one is retired when it is deleted.
  await tx.statements.run('lists.forget_all_retired');
  await tx.statements.run('fact-files.forget_all_retired');
  await tx.statements.run('sessions.end_all');
  await tx.statements.run('sessions.forget_all_links');
  await tx.statements.run('invitations.forget_all');
  await raiseAllRevisions(tx);
}
