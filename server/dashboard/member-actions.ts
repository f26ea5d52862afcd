import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import {
  createInvitation,
  type Invitation,
  listInvitations,
  revokeInvitation,
  signInAddress,
} from '../catalog/sessions.ts';
import { listMembers, ROLES } from '../catalog/workspaces.ts';
import { notFound } from '../domain/errors.ts';
import { isoInstant } from '../domain/instants.ts';
import { listedMember } from '../operations/members.ts';
import { MANAGERS, OWNERS } from '../operations/rights.ts';
import { oneOf } from '../presets/schemas.ts';
import type { AddAction, Wanted } from './actions.ts';

const role = oneOf('Role', ROLES);

/** Members and invitations of a workspace: owners decide who may what; owners and admins see it. */
export function addMemberActions(add: AddAction, { catalog, publicUrl, now }: Context): void {
  add({
    method: 'GET',
    url: '/members',
    roles: MANAGERS,
    run: async ({ workspace }) => ({ members: (await listMembers(catalog, workspace)).map(listedMember) }),
  });
  add({
    method: 'GET',
    url: '/invitations',
    roles: OWNERS,
    run: async ({ workspace, at }) => ({
      invitations: (await listInvitations(catalog, workspace, at)).map(shownInvitation),
    }),
  });
  add({
    method: 'POST',
    creates: true,
    url: '/invitations',
    roles: OWNERS,
    status: 201,
    body: Type.Object({ email: Type.String(), role }, { additionalProperties: false }),
    run: async ({ workspace, body, by, at, request, reply, submission }) => {
      const { invitation, token } = await createInvitation(catalog, { ...body, workspace }, { by, at, submission });
      reply.header('cache-control', 'no-store');
      // Without a public address, the one that the owner's browser uses.
      const server = publicUrl ?? `${request.protocol}://${request.host}`;
      return { invitation: shownInvitation(invitation), url: signInAddress(server, token) };
    },
  });
  add({
    method: 'DELETE',
    url: '/invitations/:invitation',
    roles: OWNERS,
    find: async ({ workspace, ids }: Wanted): Promise<Invitation> => {
      const open = await listInvitations(catalog, workspace, now() * 1000);
      const invitation = open.find(({ id }) => id === ids['invitation']);
      if (invitation === undefined) throw notFound('The workspace has no such invitation.');
      return invitation;
    },
    run: async ({ workspace, found, by, at }) => {
      const isRevoked = await revokeInvitation(catalog, workspace, found, { by, at });
      if (!isRevoked) throw notFound('The invitation was used meanwhile.');
    },
  });
}

const shownInvitation = ({ id, email, role: wanted, createdBy, createdAt, expiresAt }: Invitation) => ({
  ...{ id, email, role: wanted, createdBy },
  createdAt: isoInstant(createdAt),
  expiresAt: isoInstant(expiresAt),
});
