import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Day } from '../domain/dates.ts';
import { newUuid } from '../domain/ids.ts';
import { isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { type KeyFile, SecretsFailure } from '../runtime/secrets.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { hashOf } from './keys.ts';
import { requireProject } from './projects.ts';
import { isReadable, seal, unseal } from './secrets.ts';
import { findSession, type Session } from './sessions.ts';
import { dropProviderLists } from './stored-lists.ts';

/** Whether the sync stores all queries and pages by day, in addition to tracked keywords. */
export const ARCHIVES = ['queries,pages', 'queries', 'pages', 'none'] as const;
export type Archive = (typeof ARCHIVES)[number];
export const DEFAULT_ARCHIVE: Archive = 'queries,pages';

/** A connection of a project to a provider. Contains no secrets: credentials are a file path, or those of a grant. */
export interface Connection {
  /** The name of the provider. */
  readonly kind: string;
  /** Path of a file with credentials; null for the default ones of the environment, or for none. */
  readonly credentials: string | null;
  /** The id of a grant, in place of credentials. */
  readonly grant: string | null;
  /** Replaces the provider's own address. */
  readonly endpoint: string | null;
  /** Replaces the address of the token endpoint. */
  readonly tokenEndpoint: string | null;
  /** The dataset of a warehouse, or null. */
  readonly dataset: string | null;
  /** Location of the dataset; null for automatic detection. */
  readonly location: string | null;
  readonly archive: Archive;
}

export interface ListedConnection extends Connection {
  readonly workspace: string;
  readonly project: string;
  readonly property: string;
  readonly changedAt: Microseconds;
}

/** A connection cannot be set or removed; the message gives the reason. */
export class ConnectionRefused extends Error {}

/** The connections of a project, at most one per kind. */
export async function connectionsOf(catalog: Catalog, project: string): Promise<Connection[]> {
  return catalog.statements.all<Connection>('connections.of_project', { project });
}

/** All connections, or those of one workspace. */
export async function listConnections(catalog: Catalog, workspace: string | null): Promise<ListedConnection[]> {
  return catalog.statements.all<ListedConnection>('connections.all', { workspace });
}

/**
 * Stores or replaces a project's connection of a kind, which its provider has validated. Removes lists that were fetched from
 * another address or dataset; new credentials for the same data keep them. Ends a pause.
 */
export async function putConnection(
  catalog: Catalog,
  project: string,
  connection: Connection,
  at: Microseconds,
  by: string | null = null,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const { workspaceId: workspace } = await requireProject(tx, project);
    const before = (await connectionsOf(tx, project)).find(({ kind }) => kind === connection.kind);
    await tx.statements.run('connections.put', { project, ...connection, at });
    await tx.statements.run('grants.remove_unused');
    await tx.statements.run('provider-pauses.end', { project, kind: connection.kind });
    if (before === undefined || !readsTheSame(before, connection)) await dropProviderLists(tx, project);
    const details = { kind: connection.kind };
    await recordAudit(tx, {
      at,
      workspace,
      actor: actorOf(by),
      action: 'connection.set',
      subject: project,
      details,
    });
  });
}

/** Removes a connection, its stored key and the lists from providers. Throws if there is none of the kind. */
export async function removeConnection(
  catalog: Catalog,
  project: string,
  kind: string,
  { by, at }: { by: string | null; at?: Microseconds } = { by: null },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    if ((await tx.statements.run('connections.remove', { project, kind })) === 0) {
      throw new ConnectionRefused(`Project '${project}' has no ${kind} connection.`);
    }
    await tx.statements.run('grants.remove_unused');
    await dropProviderLists(tx, project);
    const { workspaceId: workspace } = await requireProject(tx, project);
    const entry = { action: 'connection.removed', subject: project, details: { kind } } as const;
    await recordAudit(tx, { ...entry, workspace, actor: actorOf(by), ...(at !== undefined && { at }) });
  });
}

function readsTheSame(a: Connection, b: Connection): boolean {
  return a.endpoint === b.endpoint && a.dataset === b.dataset && a.location === b.location;
}

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

/** How long an account may take to agree, in seconds. */
export const ATTEMPT_SECONDS = 600;

/** What an attempt to connect an account sends to the browser, and its verifier, which stays here. */
interface NewAttempt {
  readonly state: string;
  /** The value of the cookie that comes back with the state. */
  readonly cookie: string;
  readonly verifier: string;
}

/** Begins an attempt of a session. Of what the browser gets only hashes are stored. */
export async function beginAttempt(
  catalog: Catalog,
  keyFile: KeyFile,
  { sessionToken, at }: { sessionToken: string; at: Microseconds },
): Promise<NewAttempt> {
  const [state, cookie, verifier] = [newSecret(), newSecret(), newSecret()] as const;
  const stateHash = hashOf(state);
  await catalog.transaction(async (tx) => {
    await tx.statements.run('connect-attempts.forget', { at });
    await tx.statements.run('connect-attempts.add', {
      stateHash,
      cookieHash: hashOf(cookie),
      sessionHash: hashOf(sessionToken),
      verifier: await seal(tx, keyFile, { column: 'connect_attempts.verifier', id: stateHash }, verifier),
      expiresAt: at + ATTEMPT_SECONDS * 1e6,
    });
  });
  return { state, cookie, verifier };
}

/** An attempt that an account has answered. */
interface TakenAttempt {
  readonly verifier: string;
  /** The session that began it. */
  readonly session: Session;
}

/**
 * Uses up the attempt of a state, if the cookie belongs to it. Undefined without one, after its time, and if its session
 * has ended or its key is missing.
 */
export async function takeAttempt(
  catalog: Catalog,
  keyFile: KeyFile,
  { state, cookie, at }: { state: string; cookie: string; at: Microseconds },
): Promise<TakenAttempt | undefined> {
  type Row = { cookieHash: string; sessionHash: string; verifier: string; expiresAt: Microseconds };
  const stateHash = hashOf(state);
  // Anybody can send a state: transactions only for those that come with their cookie.
  const found = await catalog.statements.get<Row>('connect-attempts.one', { stateHash });
  if (found === undefined || !isSame(found.cookieHash, hashOf(cookie))) return undefined;
  return catalog.transaction(async (tx) => {
    const attempt = await tx.statements.get<Row>('connect-attempts.one', { stateHash });
    const taken = await tx.statements.run('connect-attempts.remove', { stateHash });
    if (attempt === undefined || taken === 0 || attempt.expiresAt <= at) return undefined;
    const session = await findSession(tx, attempt.sessionHash);
    if (session === undefined || session.expiresAt <= at) return undefined;
    const field = { column: 'connect_attempts.verifier', id: stateHash } as const;
    try {
      return { session, verifier: unseal(keyFile, field, attempt.verifier) };
    } catch (error) {
      if (error instanceof SecretsFailure) return undefined;
      throw error;
    }
  });
}

/** 256 random bits, as PKCE and cookies take them. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** A pause in which no process reads a property from a provider. */
export interface ProviderPause {
  readonly until: Microseconds;
  /** The kind of failure. */
  readonly reason: 'load-quota' | 'rate-limit' | 'broken';
  /** The Pacific day on which the load quota was last exhausted. */
  readonly loadRefusedOn: Day | null;
}

/** The last pause of a property, even if it has ended. */
export async function findPause(catalog: Catalog, kind: string, property: string): Promise<ProviderPause | undefined> {
  return catalog.statements.get<ProviderPause>('provider-pauses.one', { kind, property });
}

/** Atomically replaces the last pause by the result of `change`, if any. */
export async function changePause(
  catalog: Catalog,
  kind: string,
  property: string,
  change: (before: ProviderPause | undefined) => ProviderPause | undefined,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const pause = change(await findPause(tx, kind, property));
    if (pause !== undefined) await tx.statements.run('provider-pauses.put', { kind, property, ...pause });
  });
}
