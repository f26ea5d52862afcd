import { timingSafeEqual } from 'node:crypto';
import { newLinkToken, newSessionToken, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { hashOf, type Rights, type RightsRow, rightsOf } from './keys.ts';
import { findRole, type Role, requireWorkspace } from './workspaces.ts';

/** How long a session of the dashboard lasts, in seconds. */
export const SESSION_SECONDS = 12 * 3600;
/** How long a sign-in link can be used, in seconds. */
const LINK_SECONDS = 600;

/** Whom a session or link is for: a key, or a member of the workspace by email address. */
export type SignedIn =
  | { readonly keyId: string; readonly email: null }
  | { readonly keyId: null; readonly email: string };

/** A session that has begun; it may have expired. */
export type Session = SignedIn &
  Rights & {
    /** Of the member; null for a key. */
    readonly role: Role | null;
    readonly id: string;
    readonly workspaceId: string;
    readonly workspaceName: string;
    readonly plan: string;
    readonly expiresAt: Microseconds;
  };

/** A link cannot be created; the message gives the reason. */
class LinkRefused extends Error {}

/** Creates a session; its secret is only in the result. Deletes expired sessions. */
export async function createSession(
  catalog: Catalog,
  { workspace, who: { keyId, email }, at }: { workspace: string; who: SignedIn; at: Microseconds },
): Promise<{ token: string; expiresAt: Microseconds }> {
  const token = newSessionToken();
  const expiresAt = at + SESSION_SECONDS * 1e6;
  await catalog.transaction(async (tx) => {
    await tx.statements.run('sessions.forget', { at });
    const values = { hash: hashOf(token), id: newUuid(), workspace, keyId, email, at, expiresAt };
    await tx.statements.run('sessions.add', values);
    const { id } = values;
    const actor = email ?? `key ${keyId}`;
    await recordAudit(tx, { at, workspace, actor, action: 'session.created', subject: id });
  });
  return { token, expiresAt };
}

/** The session with a hash; undefined if it is unknown, its key was revoked or its member removed. */
export async function findSession(catalog: Catalog, hash: string): Promise<Session | undefined> {
  type Row = SignedIn & Omit<Session, 'projects'> & RightsRow & { hash: string };
  const row = await catalog.statements.get<Row>('sessions.by_hash', { hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  const { hash: _, ...session } = row;
  return { ...session, ...rightsOf(row) };
}

/** Ends a session at once. */
export async function endSession(catalog: Catalog, token: string): Promise<void> {
  await catalog.statements.run('sessions.end', { hash: hashOf(token) });
}

/** Creates a link that signs in once; its secret is only in the result. */
export async function createLink(
  catalog: Catalog,
  { workspace, who: { keyId, email }, at }: { workspace: string; who: SignedIn; at: Microseconds },
): Promise<{ token: string; expiresAt: Microseconds }> {
  const token = newLinkToken();
  const expiresAt = at + LINK_SECONDS * 1e6;
  await catalog.transaction(async (tx) => {
    await requireWorkspace(tx, workspace);
    if (email !== null) await requireMember(tx, workspace, email);
    await tx.statements.run('sessions.add_link', { hash: hashOf(token), workspace, keyId, email, expiresAt });
    const subject = email ?? keyId;
    await recordAudit(tx, { at, workspace, actor: actorOf(null), action: 'login.created', subject });
  });
  return { token, expiresAt };
}

/** A link that has not been used. */
export type Link = SignedIn &
  Rights & {
    readonly role: Role | null;
    readonly id: string;
    readonly workspaceId: string;
    readonly plan: string;
  };

/** Uses up the link of a token; undefined if it is unknown, used or expired, or its key or member is gone. */
export async function takeLink(catalog: Catalog, token: string, at: Microseconds): Promise<Link | undefined> {
  const hash = hashOf(token);
  type Row = SignedIn & Omit<Link, 'projects'> & RightsRow & { expiresAt: Microseconds };
  // Anybody can send a token: transactions only for links that exist.
  if ((await catalog.statements.get<Row>('sessions.link', { hash })) === undefined) return undefined;
  return catalog.transaction(async (tx) => {
    const link = await tx.statements.get<Row>('sessions.link', { hash });
    await tx.statements.run('sessions.forget_links', { hash, at });
    return link === undefined || link.expiresAt <= at ? undefined : { ...link, ...rightsOf(link) };
  });
}

/** Where a link signs in. The secret follows `#`: browsers do not send this part, so no log contains it. */
export function signInAddress(server: string, token: string): string {
  return `${server}/app/sign-in#${token}`;
}

async function requireMember(catalog: Catalog, workspace: string, email: string): Promise<void> {
  if ((await findRole(catalog, workspace, email)) !== undefined) return;
  throw new LinkRefused(`'${email}' is not a member of the workspace '${workspace}'.`);
}

/** How long an invitation can be used. */
export const INVITATION_DAYS = 7;
const DAY = 86_400_000_000;

/** An invitation that has not been used. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly createdBy: string;
  readonly createdAt: Microseconds;
  readonly expiresAt: Microseconds;
}

/** Adds an invitation, and forgets those that have ended; the secret of the link is only in the result. */
export async function addInvitation(
  tx: Catalog,
  workspace: string,
  { email, role, createdBy, createdAt }: Pick<Invitation, 'email' | 'role' | 'createdBy' | 'createdAt'>,
): Promise<{ invitation: Invitation; token: string }> {
  await tx.statements.run('invitations.forget', { at: createdAt });
  const id = newUuid();
  const token = newLinkToken();
  const expiresAt = createdAt + INVITATION_DAYS * DAY;
  await tx.statements.run('invitations.add', {
    ...{ id, workspace, email, role, hash: hashOf(token), by: createdBy, at: createdAt, expiresAt },
  });
  return { invitation: { id, email, role, createdBy, createdAt, expiresAt }, token };
}

/** The invitations of a workspace that can be used, the oldest first. */
export function listInvitations(catalog: Catalog, workspace: string, at: Microseconds): Promise<Invitation[]> {
  return catalog.statements.all<Invitation>('invitations.all', { workspace, at });
}

/** Takes an invitation back. */
export async function removeInvitation(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('invitations.remove', { id });
}

/**
 * Uses up the invitation of a link, and makes its address a member; who is one by now keeps their role. Undefined if it is
 * unknown, used, revoked or too old.
 */
export async function takeInvitation(catalog: Catalog, token: string, at: Microseconds): Promise<Link | undefined> {
  const hash = hashOf(token);
  type Row = Omit<Link, 'keyId' | 'email' | 'projects' | 'keyExpiresAt'> & {
    email: string;
    role: Role;
    memberRole: Role | null;
    expiresAt: Microseconds;
  };
  const find = (from: Catalog) => from.statements.get<Row>('invitations.by_hash', { hash });
  // Anybody can send a token: transactions only for invitations that exist.
  if ((await find(catalog)) === undefined) return undefined;
  return catalog.transaction(async (tx) => {
    const found = await find(tx);
    if (found === undefined) return undefined;
    const { expiresAt, memberRole, ...link } = found;
    const { id, workspaceId: workspace, email, role } = link;
    await tx.statements.run('invitations.remove', { id });
    if (expiresAt <= at) return undefined;
    if (memberRole === null) await tx.statements.run('members.put', { workspace, email, role });
    const details = { email, role };
    await recordAudit(tx, { at, workspace, actor: email, action: 'invitation.used', subject: id, details });
    return { ...link, keyId: null, projects: null, keyExpiresAt: null };
  });
}
