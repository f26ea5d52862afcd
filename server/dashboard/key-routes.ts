import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { createKey, KeyRefused, listKeys, revokeKey } from '../catalog/keys.ts';
import type { Usage } from '../catalog/usage.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import { MANAGERS } from '../operations/rights.ts';
import type { AddAction } from './actions.ts';

/** `/app/api/keys`: owners and admins list, create and revoke the keys of their workspace. */
export function addKeyRoutes(add: AddAction, { catalog }: Context, usage: Usage): void {
  add({
    method: 'GET',
    url: '/keys',
    roles: MANAGERS,
    run: async ({ workspace }) => {
      const keys = await listKeys(catalog, usage, workspace);
      return {
        keys: keys.map(({ createdAt, expiresAt, lastUsedAt, revokedAt, ...key }) => ({
          ...key,
          createdAt: isoInstant(createdAt),
          expiresAt: isoInstantOrNull(expiresAt),
          lastUsedAt: isoInstantOrNull(lastUsedAt),
          revokedAt: isoInstantOrNull(revokedAt),
        })),
      };
    },
  });
  add({
    method: 'POST',
    creates: true,
    url: '/keys',
    roles: MANAGERS,
    body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
    run: async ({ workspace, by, at, body, submission, reply }) => {
      const { createdAt, expiresAt, ...made } = await orRefuse(
        createKey(catalog, { workspace, ...body, by, at, submission }),
      );
      reply.header('cache-control', 'no-store');
      return { ...made, createdAt: isoInstant(createdAt), expiresAt: isoInstantOrNull(expiresAt) };
    },
  });
  add({
    method: 'DELETE',
    url: '/keys/:key',
    roles: MANAGERS,
    find: async ({ workspace, ids }) => {
      const isKnown = (await listKeys(catalog, usage, workspace)).some(({ id }) => id === ids['key']);
      if (!isKnown) throw notFound('The workspace has no such key.');
    },
    run: ({ workspace, ids, by, at }) => orRefuse(revokeKey(catalog, { id: ids['key']!, workspace, by, at })),
  });
}

async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyRefused) throw invalidRequest(error.message);
    throw error;
  }
}
