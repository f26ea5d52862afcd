import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import {
  addInvitation,
  type Invitation,
  listInvitations,
  removeInvitation,
  signInAddress,
} from '../catalog/sessions.ts';
import {
  findMember,
  findRole,
  listMembers,
  type MemberOf,
  putMember,
  ROLES,
  type Role,
  removeMember,
  requireWorkspace,
} from '../catalog/workspaces.ts';
import { KnownError } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { checkEmailAddress } from '../domain/texts.ts';
import { changes, issues, lists, type Noun, OF_WORKSPACE, type Place, reads, removes } from './operation.ts';
import { MANAGERS, OWNERS } from './rights.ts';

const role = Type.Unsafe<Role>({ type: 'string', enum: ROLES, description: 'What the member may do.' });

const MEMBER: Noun<Place, MemberOf> = {
  name: 'member',
  plural: 'members',
  of: OF_WORKSPACE,
  find: (catalog, { workspace }, email) => findMember(catalog, workspace, email),
  missing: 'The workspace has no such member.',
  edited: ({ role }) => ({ role }),
  show: ({ email, role }) => ({ email, role }),
  audited: ({ email, role }) => ({ subject: email, details: { role } }),
};

export const memberRemoval = removes(MEMBER, {
  roles: OWNERS,
  audit: 'member.removed',
  run: async ({ tx, place: { workspace }, found }) => {
    await requireOtherOwner(tx, workspace, found);
    await removeMember(tx, workspace, found.email);
  },
});

/** Members of a workspace: owners decide who may what; owners and admins see it. */
export const MEMBER_OPERATIONS = [
  lists(MEMBER, MANAGERS, ({ catalog }, { workspace }) => listMembers(catalog, workspace)),
  reads(MEMBER, MANAGERS),
  changes(MEMBER, {
    roles: OWNERS,
    audit: 'member.set',
    fields: { role },
    run: async ({ tx, place: { workspace }, input: { role }, found }) => {
      if (role !== 'owner') await requireOtherOwner(tx, workspace, found);
      const member = { ...found, role };
      await putMember(tx, workspace, member);
      return member;
    },
  }),
  memberRemoval,
];

const INVITATION: Noun<Place, Invitation> = {
  name: 'invitation',
  plural: 'invitations',
  of: OF_WORKSPACE,
  find: async (catalog, { workspace }, id, at) =>
    (await listInvitations(catalog, workspace, at)).find((invitation) => invitation.id === id),
  missing: 'The workspace has no such invitation.',
  show: ({ id, email, role, createdBy, createdAt, expiresAt }) => ({
    ...{ id, email, role, createdBy },
    createdAt: isoInstant(createdAt),
    expiresAt: isoInstant(expiresAt),
  }),
  audited: ({ id, email }) => ({ subject: id, details: { email } }),
};

export const memberInvitation = issues(INVITATION, {
  roles: OWNERS,
  audit: 'invitation.created',
  fields: { email: Type.String({ description: 'The address of the new member.' }), role },
  run: async ({ tx, place: { workspace }, input: { email: sent, role }, by, at }) => {
    const email = checkEmailAddress(sent);
    await requireWorkspace(tx, workspace);
    const before = await findRole(tx, workspace, email);
    if (before !== undefined) throw new KnownError('conflict', `'${email}' is already ${before} of the workspace.`);
    const open = await listInvitations(tx, workspace, at);
    if (open.some((one) => one.email.toLowerCase() === email.toLowerCase())) {
      throw new KnownError('conflict', `'${email}' is already invited; revoke that invitation first.`);
    }
    return addInvitation(tx, workspace, { email, role, createdBy: by, createdAt: at });
  },
  audited: ({ invitation: { id, email, role } }) => ({ subject: id, details: { email, role } }),
  answer: ({ invitation, token }, server) => ({
    invitation: INVITATION.show(invitation),
    url: signInAddress(server, token),
  }),
});

/** Invitations to a workspace: owners see the open ones, and take them back. */
export const INVITATION_OPERATIONS = [
  lists(INVITATION, OWNERS, ({ catalog }, { workspace }, at) => listInvitations(catalog, workspace, at)),
  memberInvitation,
  removes(INVITATION, {
    roles: OWNERS,
    audit: 'invitation.revoked',
    run: ({ tx, found: { id } }) => removeInvitation(tx, id),
    gone: 'The invitation was used meanwhile.',
  }),
];

/** Throws `conflict` if a member is the only owner. */
async function requireOtherOwner(tx: Catalog, workspace: string, { email }: MemberOf): Promise<void> {
  const owners = (await listMembers(tx, workspace)).filter(({ role }) => role === 'owner');
  if (owners.length !== 1 || owners[0]!.email !== email) return;
  throw new KnownError('conflict', `'${email}' is the only owner of the workspace; make somebody else one first.`);
}
