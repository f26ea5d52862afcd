import { newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { KeyFile } from '../runtime/secrets.ts';
import { recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { isReadable, seal } from './secrets.ts';

/** The grant of an account to read its properties. Its refresh token is encrypted. */
export interface Grant {
  readonly id: string;
  readonly workspace: string;
  /** The provider of the account. */
  readonly kind: string;
  /** The OAuth client to which it was given. */
  readonly clientId: string;
  /** The address of the owner who connected the account. */
  readonly connectedBy: string;
  readonly connectedAt: Microseconds;
  /** When the provider ends it; null if it did not say. */
  readonly endsAt: Microseconds | null;
  /** When the provider refused it; null if it works. */
  readonly lostAt: Microseconds | null;
  /** Encrypted. */
  readonly refreshToken: string;
}

/** `unreadable`: its key is missing. */
export type GrantState = 'ok' | 'lost' | 'unreadable';

/** Stores a grant with its refresh token, and encrypts it. */
export async function createGrant(
  tx: Catalog,
  keyFile: KeyFile,
  { token, ...grant }: Omit<Grant, 'id' | 'lostAt' | 'refreshToken'> & { token: string },
): Promise<string> {
  const id = newUuid();
  const refreshToken = await seal(tx, keyFile, { column: 'grants.refresh_token', id }, token);
  await tx.statements.run('grant_insert', { ...grant, id, refreshToken });
  const { workspace, connectedBy: actor, connectedAt: at, kind } = grant;
  await recordAudit(tx, { at, workspace, actor, action: 'grant.created', subject: id, details: { kind } });
  return id;
}

/** The grants of a workspace, or of all, the oldest first. */
export async function listGrants(catalog: Catalog, workspace: string | null): Promise<Grant[]> {
  return catalog.statements.all<Grant>('grants', { workspace });
}

export function stateOfGrant(keyFile: KeyFile, { id, lostAt, refreshToken }: Grant): GrantState {
  if (lostAt !== null) return 'lost';
  return isReadable(keyFile, { column: 'grants.refresh_token', id }, refreshToken) ? 'ok' : 'unreadable';
}
