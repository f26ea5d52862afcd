import { Type } from 'typebox';
import type { Context } from '../api/context.ts';
import { checkFeedPath } from '../api/feeds.ts';
import { createFeed, FeedRefused, type ListedFeed, listFeeds, revokeFeed, scopeOfKey } from '../catalog/keys.ts';
import { invalidRequest, notFound } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { MANAGERS } from '../operations/rights.ts';
import type { AddAction, Wanted } from './actions.ts';

/** Feeds of the workspace: owners and admins make addresses that answer one question as CSV, and revoke them. */
export function addFeedActions(add: AddAction, { publicUrl }: Context, { catalog, settings }: Stores): void {
  add({
    method: 'GET',
    url: '/feeds',
    roles: MANAGERS,
    run: async ({ workspace }) => ({
      isServed: settings.feeds,
      feeds: (await listFeeds(catalog, workspace)).map(({ workspace: _workspace, createdAt, revokedAt, ...feed }) => ({
        ...feed,
        createdAt: isoInstant(createdAt),
        revokedAt: isoInstantOrNull(revokedAt),
      })),
    }),
  });
  add({
    method: 'POST',
    creates: true,
    url: '/feeds',
    roles: MANAGERS,
    status: 201,
    body: Type.Object({ keyId: Type.String(), path: Type.String() }, { additionalProperties: false }),
    run: async ({ workspace, body: { keyId, path }, by, at, request, reply, submission }) => {
      const scope = await orRefuse(scopeOfKey(catalog, keyId, at));
      // The key of another workspace is none here.
      if (scope.workspace !== workspace) throw invalidRequest("'keyId' is no active key of the workspace.");
      await checkFeedPath(catalog, scope, path, at / 1000);
      const { id, token } = await orRefuse(createFeed(catalog, { keyId, path, at, by, submission }));
      reply.header('cache-control', 'no-store');
      // Without a public address, the one that the browser uses.
      const server = publicUrl ?? `${request.protocol}://${request.host}`;
      return { id, url: `${server}/feeds/${token}.csv` };
    },
  });
  add({
    method: 'DELETE',
    url: '/feeds/:feed',
    roles: MANAGERS,
    find: async ({ workspace, ids }: Wanted): Promise<ListedFeed> => {
      const found = (await listFeeds(catalog, workspace)).find(({ id }) => id === ids['feed']);
      if (found === undefined) throw notFound('The workspace has no such feed.');
      return found;
    },
    run: ({ found: { id }, by, at }) => revokeFeed(catalog, { id, by, at }),
  });
}

async function orRefuse<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof FeedRefused) throw invalidRequest(error.message);
    throw error;
  }
}
