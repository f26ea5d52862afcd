import { newUuid } from '../domain/ids.ts';
import { isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import type { KeyFile } from '../runtime/secrets.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { isReadable, seal, unseal } from './secrets.ts';
import { dropProviderLists } from './stored-lists.ts';

/** The grant of an account to read its properties, by a refresh token or an API key, which is encrypted. */
export interface Grant {
  readonly id: string;
  readonly workspace: string;
  /** The provider of the account. */
  readonly kind: string;
  /** The OAuth client to which it was given; '' for an API key. */
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
  await tx.statements.run('grants.add', { ...grant, id, refreshToken });
  const { workspace, connectedBy: actor, connectedAt: at, kind } = grant;
  await recordAudit(tx, { at, workspace, actor, action: 'grant.created', subject: id, details: { kind } });
  return id;
}

/** The grants of a workspace, or of all, the oldest first. */
export async function listGrants(catalog: Catalog, workspace: string | null): Promise<Grant[]> {
  return catalog.statements.all<Grant>('grants.all', { workspace });
}

/** When Google ends a grant of a consent screen in testing, and what to do; nulls for others. */
export function endOfGrant(grant: Pick<Grant, 'endsAt'> | undefined): {
  endsAt: string | null;
  warning: string | null;
} {
  const instant = isoInstantOrNull(grant?.endsAt ?? null);
  if (instant === null) return { endsAt: null, warning: null };
  const warning = `Your consent screen is in testing: this connection ends on ${instant.slice(0, 10)}. Publish it, then connect again.`;
  return { endsAt: instant, warning };
}

export function stateOfGrant(keyFile: KeyFile, { id, lostAt, refreshToken }: Grant): GrantState {
  if (lostAt !== null) return 'lost';
  return isReadable(keyFile, { column: 'grants.refresh_token', id }, refreshToken) ? 'ok' : 'unreadable';
}

/** A grant by its id. */
export async function findGrant(catalog: Catalog, id: string): Promise<Grant | undefined> {
  return catalog.statements.get<Grant>('grants.one', { id });
}

/** Decrypts the refresh token of a grant. Throws `SecretsFailure` without its key. */
export function tokenOf(keyFile: KeyFile, { id, refreshToken }: Grant): string {
  return unseal(keyFile, { column: 'grants.refresh_token', id }, refreshToken);
}

/** The projects of a workspace that read through a grant. */
export async function listGrantProjects(
  catalog: Catalog,
  workspace: string,
): Promise<{ grant: string; project: string; property: string }[]> {
  return catalog.statements.all('grants.projects', { workspace });
}

/** Marks a grant that the provider has refused, once; its projects are synced at once, so that their status says so. */
export async function loseGrant(catalog: Catalog, { id, workspace, kind }: Grant, at: Microseconds): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await tx.statements.run('grants.lose', { id, at })) === 0) return;
    const actor = actorOf(null);
    await recordAudit(tx, { at, workspace, actor, action: 'grant.lost', subject: id, details: { kind } });
    for (const { grant, project } of await listGrantProjects(tx, workspace)) {
      if (grant === id) await tx.statements.run('sync-projects.now', { project });
    }
  });
}

/** Connects a project to another grant of its workspace, and syncs it at once. */
export async function moveToGrant(
  tx: Catalog,
  { project, grant, at }: { project: string; grant: Grant; at: Microseconds },
): Promise<void> {
  await tx.statements.run('connections.move', { project, grant: grant.id, at });
  await tx.statements.run('provider-pauses.end', { project, kind: 'search-console' });
  await tx.statements.run('sync-projects.now', { project });
  const { workspace, connectedBy: actor } = grant;
  const details = { kind: 'search-console', grant: grant.id };
  await recordAudit(tx, { at, workspace, actor, action: 'connection.set', subject: project, details });
}

/** Forgets a grant with the connections of its projects, which keep their data. False if there is none. */
export async function removeGrant(
  catalog: Catalog,
  { id, workspace }: Pick<Grant, 'id' | 'workspace'>,
  { by: actor, at }: { by: string; at: Microseconds },
): Promise<boolean> {
  return catalog.transaction(async (tx) => {
    const projects = (await listGrantProjects(tx, workspace)).filter(({ grant }) => grant === id);
    for (const { project } of projects) await dropProviderLists(tx, project);
    if ((await tx.statements.run('grants.remove', { id })) === 0) return false;
    const details = { projects: projects.map(({ project }) => project) };
    await recordAudit(tx, { at, workspace, actor, action: 'grant.revoked', subject: id, details });
    return true;
  });
}
