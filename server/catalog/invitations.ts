import { KnownError } from '../domain/errors.ts';
import { newLinkToken, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { checkEmailAddress } from '../domain/texts.ts';
import { recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { hashOf } from './keys.ts';
import type { Link } from './sessions.ts';
import { createOnce, type Submission } from './submissions.ts';
import { findRole, type Role, requireWorkspace } from './workspaces.ts';

/** Who invites, and when. */
interface Inviter {
  /** For the audit trail. */
  readonly by: string;
  readonly at: Microseconds;
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

/** Invites somebody; the secret of the link is only in the result. Throws `conflict` for members and the invited. */
export async function createInvitation(
  catalog: Catalog,
  { workspace, email: address, role }: { workspace: string; email: string; role: Role },
  { by, at, submission }: Inviter & { readonly submission?: Submission },
): Promise<{ invitation: Invitation; token: string }> {
  const email = checkEmailAddress(address);
  const create = async (tx: Catalog): Promise<{ invitation: Invitation; token: string }> => {
    await requireWorkspace(tx, workspace);
    await tx.statements.run('invitations.forget', { at });
    const before = await findRole(tx, workspace, email);
    if (before !== undefined) throw new KnownError('conflict', `'${email}' is already ${before} of the workspace.`);
    const open = await listInvitations(tx, workspace, at);
    if (open.some((one) => one.email.toLowerCase() === email.toLowerCase())) {
      throw new KnownError('conflict', `'${email}' is already invited; revoke that invitation first.`);
    }
    const id = newUuid();
    const token = newLinkToken();
    const expiresAt = at + INVITATION_DAYS * DAY;
    await tx.statements.run('invitations.add', {
      ...{ id, workspace, email, role, hash: hashOf(token), by, at, expiresAt },
    });
    const details = { email, role };
    await recordAudit(tx, { at, workspace, actor: by, action: 'invitation.created', subject: id, details });
    return { invitation: { id, email, role, createdBy: by, createdAt: at, expiresAt }, token };
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => create(tx)));
}

/** The invitations of a workspace that can be used, the oldest first. */
export function listInvitations(catalog: Catalog, workspace: string, at: Microseconds): Promise<Invitation[]> {
  return catalog.statements.all<Invitation>('invitations.all', { workspace, at });
}

/** Takes an invitation back. False if it was used or taken back meanwhile. */
export function revokeInvitation(
  catalog: Catalog,
  workspace: string,
  { id, email }: Pick<Invitation, 'id' | 'email'>,
  { by: actor, at }: Inviter,
): Promise<boolean> {
  return catalog.transaction(async (tx) => {
    if ((await tx.statements.run('invitations.remove', { id })) === 0) return false;
    const details = { email };
    await recordAudit(tx, { at, workspace, actor, action: 'invitation.revoked', subject: id, details });
    return true;
  });
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
