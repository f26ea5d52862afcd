import { Type } from 'typebox';
import { checkFeedPath } from '../api/feeds.ts';
import type { OpenCatalog } from '../catalog/catalog.ts';
import { createFeed, type ListedFeed, listFeeds, revokeFeed, scopeOfKey } from '../catalog/keys.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import type { Stores } from '../load/stores.ts';
import { issues, lists, type Noun, OF_WORKSPACE, type Place, removes } from './operation.ts';
import { MANAGERS } from './rights.ts';

const FEED: Noun<Place, ListedFeed> = {
  name: 'feed',
  plural: 'feeds',
  of: OF_WORKSPACE,
  find: async (catalog, { workspace }, id) => (await listFeeds(catalog, workspace)).find((feed) => feed.id === id),
  missing: 'The workspace has no such feed.',
  show: shownFeed,
  audited: ({ id, path }) => ({ subject: id, details: { path } }),
};

export const feedCreation = issues(FEED, {
  roles: MANAGERS,
  audit: 'feed.created',
  fields: {
    keyId: Type.String({ description: 'The key that it reads with, and ends with.' }),
    path: Type.String({ description: 'What it answers: a path of the API with its parameters.' }),
  },
  run: {
    before: async ({ catalog }: { readonly catalog: OpenCatalog }, { place, input: { keyId, path }, at }) => {
      const scope = await scopeOfKey(catalog, keyId, at);
      // The key of another workspace is none here.
      if (scope.workspace !== place.workspace) throw invalidRequest("'keyId' is no active key of the workspace.");
      await checkFeedPath(catalog, scope, path, at / 1000);
      return async ({ tx }) => {
        await scopeOfKey(tx, keyId, at);
        return { ...(await createFeed(tx, { keyId, path, at })), keyId, path };
      };
    },
  },
  audited: ({ id, keyId, path }) => ({ subject: id, details: { keyId, path } }),
  answer: ({ id, token }, server) => ({ id, url: feedAddress(server, token) }),
});

export const feedRevocation = removes(FEED, {
  roles: MANAGERS,
  audit: 'feed.revoked',
  run: ({ tx, found: { id }, at }) => revokeFeed(tx, id, at),
});

/** Feeds of a workspace: owners and admins make addresses that answer one question as CSV, and revoke them. */
export const FEED_OPERATIONS = [
  lists(
    FEED,
    MANAGERS,
    ({ catalog }, { workspace }) => listFeeds(catalog, workspace),
    ({ settings }: Stores) => ({ isServed: settings.feeds }),
  ),
  feedCreation,
  feedRevocation,
];

/** Where a feed is read. */
export function feedAddress(server: string, token: string): string {
  return `${server}/feeds/${token}.csv`;
}

function shownFeed({ workspace: _workspace, createdAt, revokedAt, ...feed }: ListedFeed) {
  return { ...feed, createdAt: isoInstant(createdAt), revokedAt: isoInstantOrNull(revokedAt) };
}
