import { Type } from 'typebox';
import type { Catalog } from '../catalog/catalog.ts';
import {
  findMember,
  listMembers,
  type MemberOf,
  putMember,
  ROLES,
  type Role,
  removeMember,
} from '../catalog/workspaces.ts';
import { KnownError } from '../domain/errors.ts';
import { versionOf } from '../domain/versions.ts';
import { changes, type Noun, OF_WORKSPACE, type Place, reads, removes } from './operation.ts';
import { MANAGERS, OWNERS } from './rights.ts';

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
  reads(MEMBER, MANAGERS),
  changes(MEMBER, {
    roles: OWNERS,
    audit: 'member.set',
    fields: { role: Type.Unsafe<Role>({ type: 'string', enum: ROLES }) },
    run: async ({ tx, place: { workspace }, input: { role }, found }) => {
      if (role !== 'owner') await requireOtherOwner(tx, workspace, found);
      const member = { ...found, role };
      await putMember(tx, workspace, member);
      return member;
    },
  }),
  memberRemoval,
];

/** Throws `conflict` if a member is the only owner. */
async function requireOtherOwner(tx: Catalog, workspace: string, { email }: MemberOf): Promise<void> {
  const owners = (await listMembers(tx, workspace)).filter(({ role }) => role === 'owner');
  if (owners.length !== 1 || owners[0]!.email !== email) return;
  throw new KnownError('conflict', `'${email}' is the only owner of the workspace; make somebody else one first.`);
}

/** A member in a list, with the version that an edit must send. */
export function listedMember(member: MemberOf): object {
  return { ...MEMBER.show(member), version: versionOf(MEMBER.edited(member)) };
}
