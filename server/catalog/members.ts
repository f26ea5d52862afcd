import { KnownError, notFound } from '../domain/errors.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import { recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { findMember, listMembers, type MemberOf, type MemberWriter, setMember } from './workspaces.ts';

/** Changes the role of a member. Throws `outdated`, and `conflict` if no owner would be left. */
export async function changeRole(
  catalog: Catalog,
  workspace: string,
  { email, role }: MemberOf,
  { version, ...writer }: MemberWriter & { readonly version: string },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const member = await findMember(tx, workspace, email);
    if (member !== undefined) requireVersion(versionOf({ role: member.role }), version);
    if (role !== 'owner') await requireOtherOwner(tx, workspace, email);
    await setMember(tx, workspace, { email, role }, writer);
  });
}

/** Removes a member, whose sessions end. Throws `not_found`, and `conflict` if no owner would be left. */
export async function removeMember(
  catalog: Catalog,
  workspace: string,
  email: string,
  { by: actor, at }: MemberWriter,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const member = await findMember(tx, workspace, email);
    if (member === undefined) throw notFound(`'${email}' is not a member of the workspace '${workspace}'.`);
    await requireOtherOwner(tx, workspace, email);
    await tx.statements.run('members.remove', { workspace, email });
    // They must not count again if the address becomes a member again.
    await tx.statements.run('members.end_sessions', { workspace, email });
    await tx.statements.run('members.remove_links', { workspace, email });
    await tx.statements.run('members.remove_invitations', { workspace, email });
    const details = { role: member.role };
    await recordAudit(tx, { at, workspace, actor, action: 'member.removed', subject: member.email, details });
  });
}

/** Throws `conflict` if a member is the only owner. */
async function requireOtherOwner(tx: Catalog, workspace: string, email: string): Promise<void> {
  const owners = (await listMembers(tx, workspace)).filter(({ role }) => role === 'owner');
  if (owners.length !== 1 || owners[0]!.email.toLowerCase() !== email.toLowerCase()) return;
  throw new KnownError('conflict', `'${email}' is the only owner of the workspace; make somebody else one first.`);
}
