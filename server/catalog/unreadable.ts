import { checkKeyFile, type KeyFile } from '../runtime/secrets.ts';
import type { Catalog } from './catalog.ts';
import { type Channel, listChannels } from './channels.ts';
import { type Grant, listGrants } from './connections.ts';
import { isReadable } from './secrets.ts';

/** What is of no use without a key that is lost. */
export interface Unreadable {
  readonly grants: readonly Grant[];
  readonly channels: readonly Channel[];
}

/**
 * The accounts and channels of all workspaces whose key is lost. Throws `SecretsFailure` if the file of keys is there and
 * cannot be used: what it has is not lost.
 */
export async function listUnreadable(catalog: Catalog, keyFile: KeyFile): Promise<Unreadable> {
  checkKeyFile(keyFile, true);
  const [grants, channels] = await catalog.snapshot(async (snapshot) => [
    await listGrants(snapshot, null),
    await listChannels(snapshot, null),
  ]);
  return {
    grants: grants.filter(
      ({ id, refreshToken }) => !isReadable(keyFile, { column: 'grants.refresh_token', id }, refreshToken),
    ),
    channels: channels.filter(
      ({ id, address, secret }) =>
        (address !== null && !isReadable(keyFile, { column: 'channels.address', id }, address)) ||
        (secret !== null && !isReadable(keyFile, { column: 'channels.secret', id }, secret)),
    ),
  };
}
