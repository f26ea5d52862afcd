import { checkEmailAddress } from '../domain/texts.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { type MemberOf, type Role, requireWorkspace } from './workspaces.ts';

/** Adds a member, or changes the role of one. */
export async function putMember(tx: Catalog, workspace: string, { email, role }: MemberOf): Promise<void> {
  await tx.statements.run('members.put', { workspace, email, role });
}

/** Removes a member, whose sessions end. */
export async function removeMember(tx: Catalog, workspace: string, email: string): Promise<void> {
  await tx.statements.run('members.remove', { workspace, email });
  // They must not count again if the address becomes a member again.
  await tx.statements.run('members.end_sessions', { workspace, email });
  await tx.statements.run('members.remove_links', { workspace, email });
  await tx.statements.run('members.remove_invitations', { workspace, email });
}

/** Adds a member or changes their role, by command: whoever runs it can also make another owner. */
export async function addMember(catalog: Catalog, workspace: string, email: string, role: Role): Promise<void> {
  const member = { email: checkEmailAddress(email), role };
  await catalog.transaction(async (tx) => {
    await requireWorkspace(tx, workspace);
    await putMember(tx, workspace, member);
    const entry = { at: Date.now() * 1000, workspace, actor: actorOf(null), action: 'member.set' as const };
    await recordAudit(tx, { ...entry, subject: member.email, details: { role } });
  });
}
