import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { findShare, listShares, revokeShare, type Share } from '../catalog/keys.ts';
import { notFound } from '../domain/errors.ts';
import { MANAGERS } from '../operations/rights.ts';
import { addShare, shownShare } from '../projects/shares.ts';
import type { AddAction, Wanted } from './actions.ts';

/** Shares of a project: owners and admins make links that show a part of it, and take them back. */
export function addShareActions(add: AddAction, { catalog, publicUrl }: Context): void {
  add({
    method: 'GET',
    url: '/projects/:id/shares',
    roles: MANAGERS,
    run: async ({ project }) => ({ shares: (await listShares(catalog, project!.id)).map(shownShare) }),
  });
  add({
    method: 'POST',
    creates: true,
    url: '/projects/:id/shares',
    roles: MANAGERS,
    status: 201,
    body: Type.Object(
      {
        screens: Type.Array(Type.String()),
        hideQueries: Type.Optional(Type.Boolean()),
        expiresAt: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        password: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      },
      { additionalProperties: false },
    ),
    run: async ({ project, body, by, at, request, reply, submission }) => {
      const { share, token } = await addShare(catalog, project!.id, body, { by, at, submission });
      reply.header('cache-control', 'no-store');
      // Without a public address, the one that the browser uses.
      const server = publicUrl ?? `${request.protocol}://${request.host}`;
      return { share: shownShare(share), url: `${server}/share/${token}` };
    },
  });
  add({
    method: 'DELETE',
    url: '/projects/:id/shares/:share',
    roles: MANAGERS,
    find: async ({ project, ids }: Wanted): Promise<Share> => {
      const found = await findShare(catalog, ids['share']!);
      if (found?.project !== project!.id) throw notFound('The project has no such share.');
      return found;
    },
    run: ({ found, by, at }) => revokeShare(catalog, found.id, { by, at }),
  });
}
