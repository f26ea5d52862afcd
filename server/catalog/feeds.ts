import { timingSafeEqual } from 'node:crypto';
import { newFeedToken, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { type Access, hashOf, projectsOf, type RightsRow, rightsOf } from './keys.ts';
import { createOnce, type Submission } from './submissions.ts';

const MAX_FEEDS_PER_KEY = 100;

/** A request that needs no header: its URL has the rights of a key. */
export interface Feed extends Access {
  /** Relative to the API root, with parameters. */
  readonly path: string;
}

/** A feed as operators see it. */
export interface ListedFeed {
  readonly id: string;
  readonly workspace: string;
  readonly keyId: string;
  readonly path: string;
  readonly createdAt: Microseconds;
  readonly revokedAt: Microseconds | null;
}

/** A feed cannot be created or revoked; the message gives the reason. */
export class FeedRefused extends Error {}

/** The feed whose token has a hash; undefined when it is unknown or revoked, or its key is revoked. */
export async function findFeed(catalog: Catalog, hash: string): Promise<Feed | undefined> {
  type Row = Omit<Feed, 'projects' | 'scope'> & RightsRow & { hash: string };
  const row = await catalog.statements.get<Row>('feeds.by_hash', { hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  const { keyId, workspaceId, plan, path } = row;
  return { keyId, workspaceId, plan, path, scope: null, ...rightsOf(row) };
}

/** The scope of a valid key: its workspace, and its projects (null: all). Throws if there is no such key. */
export async function scopeOfKey(
  catalog: Catalog,
  keyId: string,
  at: Microseconds,
): Promise<{ readonly workspace: string; readonly projects: readonly string[] | null }> {
  type Row = { workspace: string; projects: string | null };
  const row = await catalog.statements.get<Row>('keys.active', { id: keyId, at });
  if (row === undefined) {
    throw new FeedRefused(`There is no active key with the id '${keyId}'; \`ordinate keys list\` shows the ids.`);
  }
  return { workspace: row.workspace, projects: projectsOf(row.projects) };
}

/** Creates a feed of an active key. Its token is only in the result. */
export async function createFeed(
  catalog: Catalog,
  {
    keyId,
    path,
    at,
    by = null,
    submission,
  }: {
    readonly keyId: string;
    readonly path: string;
    readonly at: Microseconds;
    readonly by?: string | null;
    readonly submission?: Submission;
  },
): Promise<{ id: string; token: string }> {
  const create = async (tx: Catalog): Promise<{ id: string; token: string }> => {
    const id = newUuid();
    const token = newFeedToken();
    const { workspace } = await scopeOfKey(tx, keyId, at);
    const { count } = (await tx.statements.get<{ count: number }>('feeds.count_active', { keyId }))!;
    if (count >= MAX_FEEDS_PER_KEY) {
      throw new FeedRefused(`The key has ${count} feeds, which is the most it can have. Revoke one first.`);
    }
    await tx.statements.run('feeds.add', { id, keyId, hash: hashOf(token), path, at });
    const details = { keyId, path };
    await recordAudit(tx, { at, workspace, actor: actorOf(by), action: 'feed.created', subject: id, details });
    return { id, token };
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => create(tx)));
}

/** The feeds of a workspace, or all, oldest first. */
export async function listFeeds(catalog: Catalog, workspace: string | null): Promise<ListedFeed[]> {
  return catalog.statements.all<ListedFeed>('feeds.all', { workspace });
}

/** Revokes a feed immediately and permanently. Revoking it again changes nothing. */
export async function revokeFeed(
  catalog: Catalog,
  { id, at, by = null }: { id: string; at: Microseconds; by?: string | null },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const feed = await tx.statements.get<{ workspace: string; path: string }>('feeds.one', { id });
    if (feed === undefined) throw new FeedRefused(`There is no feed with the id '${id}'.`);
    if ((await tx.statements.run('feeds.revoke', { id, at })) === 0) return;
    const { workspace, path } = feed;
    const details = { path };
    await recordAudit(tx, { at, workspace, actor: actorOf(by), action: 'feed.revoked', subject: id, details });
  });
}
