import { hash as digest, timingSafeEqual } from 'node:crypto';
import { addDays, dayOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import { newFeedToken, newKey, newShareToken, newUuid } from '../domain/ids.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import { AUDIT_DAYS } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { findProject } from './projects.ts';
import type { Usage } from './usage.ts';
import { requireWorkspace } from './workspaces.ts';

const PREFIX_LENGTH = 'ord_live_'.length + 4;

/** What a key may do besides reading reports. */
export const KEY_SCOPES = ['sql'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** The rights of a key. */
export interface Rights {
  /** The key is not valid from this instant on; null: it does not expire. */
  readonly keyExpiresAt: Microseconds | null;
  /** The projects that the key may read; null: all of its workspace. */
  readonly projects: readonly string[] | null;
  /** Requests that each key of the workspace may send in a minute; null: the default. */
  readonly requestsPerMinute: number | null;
}

/** Rights in rows. */
export type RightsRow = Omit<Rights, 'projects'> & { readonly projects: string | null };

/** The identity of a key that is not revoked; it may have expired. */
export interface Access extends Rights {
  /** What the key may do besides reading reports. */
  readonly scope: KeyScope | null;
  readonly keyId: string;
  readonly workspaceId: string;
  readonly plan: string;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  /** The first characters, to recognise the key. */
  readonly prefix: string;
  readonly createdAt: Microseconds;
  /** Null: it does not expire. */
  readonly expiresAt: Microseconds | null;
  readonly lastUsedAt: Microseconds | null;
  readonly revokedAt: Microseconds | null;
  /** The id of the key that replaces it. */
  readonly replacedBy: string | null;
  /** The projects that it may read; null: all of its workspace. */
  readonly projects: readonly string[] | null;
  readonly scope: KeyScope | null;
}

type KeyRow = Omit<Key, 'projects'> & { readonly projects: string | null };

export interface NewKey {
  readonly workspace: string;
  readonly name: string;
  /** The email address of a member, or who ran a command. */
  readonly by: string;
  readonly at: Microseconds;
  /** Null: it does not expire. */
  readonly expiresAt?: Microseconds | null;
  /** The projects that it may read; null: all of its workspace. */
  readonly projects?: readonly string[] | null;
  readonly scope?: KeyScope | null;
}

/** A new key; its text is not stored. */
export interface CreatedKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: Microseconds;
  readonly expiresAt: Microseconds | null;
  readonly projects: readonly string[] | null;
  readonly scope: KeyScope | null;
}

/**
 * The access of a key by its hash; undefined if it is unknown or revoked. Only hashes are compared, so timing reveals nothing
 * about stored keys.
 */
export async function findAccess(catalog: Catalog, hash: string): Promise<Access | undefined> {
  type Row = Omit<Access, 'projects'> & RightsRow & { hash: string };
  const row = await catalog.statements.get<Row>('keys.by_hash', { hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  return { keyId: row.keyId, workspaceId: row.workspaceId, plan: row.plan, scope: row.scope, ...rightsOf(row) };
}

/** The rights of a row. */
export function rightsOf({ keyExpiresAt, projects, requestsPerMinute }: RightsRow): Rights {
  return { keyExpiresAt, projects: projectsOf(projects), requestsPerMinute };
}

/** The projects of a row: a JSON list, or null for all. */
function projectsOf(list: string | null): readonly string[] | null {
  return list === null ? null : (JSON.parse(list) as string[]).sort();
}

/** How many keys of a workspace are valid; those that were replaced do not count. */
export async function countActiveKeys(tx: Catalog, workspace: string, at: Microseconds): Promise<number> {
  return (await tx.statements.get<{ count: number }>('keys.count_active', { workspace, at }))?.count ?? 0;
}

/** Adds a key, whose text is only in the result. Throws `invalid_request` for an end or project that it cannot have. */
export async function addKey(
  tx: Catalog,
  { workspace, name, by, at, expiresAt = null, projects = null, scope = null }: NewKey,
): Promise<CreatedKey> {
  if (expiresAt !== null && expiresAt <= at) throw invalidRequest('A key must expire in the future.');
  const id = newUuid();
  const key = newKey();
  const prefix = key.slice(0, PREFIX_LENGTH);
  const limited = projects === null ? 0 : 1;
  await tx.statements.run('keys.add', {
    id,
    workspace,
    name,
    prefix,
    hash: hashOf(key),
    at,
    by,
    expiresAt,
    limited,
    scope,
  });
  for (const project of new Set(projects)) {
    if ((await findProject(tx, workspace, project)) === undefined) {
      throw invalidRequest(`Workspace '${workspace}' has no project '${project}'; \`projects list\` shows all.`);
    }
    await tx.statements.run('keys.add_project', { key: id, project });
  }
  return {
    id,
    key,
    name,
    prefix,
    createdAt: at,
    expiresAt,
    projects: projects && [...new Set(projects)].sort(),
    scope,
  };
}

/** The keys of a workspace, oldest first. */
export async function listKeys(catalog: Catalog, usage: Usage, workspace: string): Promise<Key[]> {
  const uses = await readKeyUses(usage);
  return (await keysOf(catalog, workspace)).map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt }));
}

/** The id of the oldest active key of this name; undefined if there is none. */
export async function findActiveKey(
  catalog: Catalog,
  { workspace, name }: { workspace: string; name: string },
): Promise<string | undefined> {
  const keys = await catalog.statements.all<KeyRow>('keys.of_workspace', { workspace });
  return keys.find((key) => key.name === name && key.revokedAt === null && key.replacedBy === null)?.id;
}

/** Keys with the last use that older versions stored in the catalog. */
async function keysOf(catalog: Catalog, workspace: string): Promise<Key[]> {
  await requireWorkspace(catalog, workspace);
  const rows = await catalog.statements.all<KeyRow>('keys.of_workspace', { workspace });
  return rows.map((row) => ({ ...row, projects: projectsOf(row.projects) }));
}

export async function findKey(catalog: Catalog, workspace: string, id: string): Promise<Key | undefined> {
  return (await keysOf(catalog, workspace)).find((key) => key.id === id);
}

/** Replaces a key by another, to which its feeds move; it stays valid until an instant, or its own end. */
export async function replaceKey(tx: Catalog, id: string, by: string, expiresAt: Microseconds): Promise<void> {
  await tx.statements.run('keys.replace', { id, by, expiresAt });
  await tx.statements.run('feeds.move', { from: id, to: by });
}

/** Revokes a key permanently, with immediate effect. False for one that was revoked. */
export async function revokeKey(tx: Catalog, id: string, at: Microseconds): Promise<boolean> {
  return (await tx.statements.run('keys.revoke', { id, at })) > 0;
}

/** The stored hash of a key. */
export function hashOf(key: string): string {
  return digest('sha256', key);
}

/** Uses are written so long after the first of them, in milliseconds. */
const WRITE_AFTER = 1000;

/** Requests that are not stored yet. */
interface Use {
  readonly requests: number;
  /** Of the last one. */
  readonly at: Microseconds;
}

/** Stores when and how often keys are used, asynchronously and at most once a second. */
export class KeyUse {
  readonly #usage: Usage;
  readonly #pending = new Map<string, Use>();
  #forgottenOn = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(usage: Usage) {
    this.#usage = usage;
  }

  /** @param at milliseconds */
  note(keyId: string, at: number): void {
    const requests = (this.#pending.get(keyId)?.requests ?? 0) + 1;
    this.#pending.set(keyId, { requests, at: toMicroseconds(at) });
    if (this.#timer !== undefined) return;
    // A write right now would hold up the request.
    this.#timer = setTimeout(() => void this.flush(), WRITE_AFTER);
    this.#timer.unref();
  }

  /** Writes pending uses. Failed writes are retried with the next use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [id, use] of this.#pending) {
      this.#pending.delete(id);
      const { requests, at } = use;
      const day = dayOf(at / 1000);
      if (!(await this.#usage.run('keys.used', { id, at }))) {
        this.#putBack(id, use);
        return;
      }
      await this.#usage.run('keys.used_on_day', { id, day, requests, at });
      await this.#forgetOldDays(day);
    }
  }

  /** The key may have been used again during the write. */
  #putBack(id: string, { requests, at }: Use): void {
    const later = this.#pending.get(id);
    this.#pending.set(id, { requests: requests + (later?.requests ?? 0), at: later?.at ?? at });
  }

  async #forgetOldDays(today: string): Promise<void> {
    if (today === this.#forgottenOn) return;
    this.#forgottenOn = today;
    await this.#usage.run('keys.forget_days', { before: addDays(today, -AUDIT_DAYS) });
  }
}

/** The last use of every key that was used. */
export async function readKeyUses(usage: Usage): Promise<Map<string, Microseconds>> {
  const rows = await usage.all<{ id: string; usedAt: Microseconds }>('keys.uses');
  return new Map(rows.map(({ id, usedAt }) => [id, usedAt]));
}

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

/** The feed whose token has a hash; undefined when it is unknown or revoked, or its key is revoked. */
export async function findFeed(catalog: Catalog, hash: string): Promise<Feed | undefined> {
  type Row = Omit<Feed, 'projects' | 'scope'> & RightsRow & { hash: string };
  const row = await catalog.statements.get<Row>('feeds.by_hash', { hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  const { keyId, workspaceId, plan, path } = row;
  return { keyId, workspaceId, plan, path, scope: null, ...rightsOf(row) };
}

/** The scope of a valid key: its workspace, and its projects (null: all). Throws `invalid_request` for another id. */
export async function scopeOfKey(
  catalog: Catalog,
  keyId: string,
  at: Microseconds,
): Promise<{ readonly workspace: string; readonly projects: readonly string[] | null }> {
  type Row = { workspace: string; projects: string | null };
  const row = await catalog.statements.get<Row>('keys.active', { id: keyId, at });
  if (row === undefined) {
    throw invalidRequest(`There is no active key with the id '${keyId}'; \`ordinate keys list\` shows the ids.`);
  }
  return { workspace: row.workspace, projects: projectsOf(row.projects) };
}

/** Creates a feed of an active key. Its token is only in the result. */
export async function createFeed(
  tx: Catalog,
  { keyId, path, at }: Pick<ListedFeed, 'keyId' | 'path'> & { readonly at: Microseconds },
): Promise<{ id: string; token: string }> {
  const id = newUuid();
  const token = newFeedToken();
  const { count } = (await tx.statements.get<{ count: number }>('feeds.count_active', { keyId }))!;
  if (count >= MAX_FEEDS_PER_KEY) {
    throw invalidRequest(`The key has ${count} feeds, which is the most it can have. Revoke one first.`);
  }
  await tx.statements.run('feeds.add', { id, keyId, hash: hashOf(token), path, at });
  return { id, token };
}

/** The feeds of a workspace, or all, oldest first. */
export async function listFeeds(catalog: Catalog, workspace: string | null): Promise<ListedFeed[]> {
  return catalog.statements.all<ListedFeed>('feeds.all', { workspace });
}

/** Revokes a feed immediately and permanently. False for one that was revoked. */
export async function revokeFeed(tx: Catalog, id: string, at: Microseconds): Promise<boolean> {
  return (await tx.statements.run('feeds.revoke', { id, at })) > 0;
}

/** What a share can show. */
export const SHARE_SCREENS = ['overview', 'breakdowns', 'pages', 'queries', 'keywords', 'alerts', 'notes'] as const;
export type ShareScreen = (typeof SHARE_SCREENS)[number];

/** What is chosen for a share. */
export interface ShareChoice {
  readonly screens: readonly ShareScreen[];
  /** Whether no text of a query is shown. */
  readonly hideQueries: boolean;
  /** Null: it does not end. */
  readonly expiresAt: Microseconds | null;
  /** Of the password; null without one. */
  readonly passwordHash: string | null;
}

/** A link that shows one project. */
export interface Share extends ShareChoice {
  readonly id: string;
  readonly project: string;
  readonly workspace: string;
  readonly createdAt: Microseconds;
  readonly revokedAt: Microseconds | null;
}

type Row = Omit<Share, 'screens' | 'hideQueries'> & { screens: string; hideQueries: number };

/** Creates a share of a project; its token is only in the result. */
export async function createShare(
  tx: Catalog,
  { workspace, project }: Pick<Share, 'workspace' | 'project'>,
  choice: ShareChoice,
  at: Microseconds,
): Promise<{ share: Share; token: string }> {
  const { screens, hideQueries, expiresAt, passwordHash } = choice;
  const token = newShareToken();
  const share = { id: newUuid(), project, workspace, ...choice, createdAt: at, revokedAt: null };
  const stored = { screens: JSON.stringify(screens), hideQueries: Number(hideQueries), passwordHash, expiresAt };
  await tx.statements.run('shares.add', { id: share.id, project, hash: hashOf(token), ...stored, at });
  return { share, token };
}

/** Shares, the newest first; of one project, or of all with null. */
export async function listShares(catalog: Catalog, project: string | null): Promise<Share[]> {
  return (await catalog.statements.all<Row>('shares.all', { project, id: null })).map(shareOf);
}

export async function findShare(catalog: Catalog, id: string): Promise<Share | undefined> {
  const row = await catalog.statements.get<Row>('shares.all', { project: null, id });
  return row && shareOf(row);
}

/** The share of a token; undefined if it is unknown or revoked. It may have ended. */
export async function findShareOfToken(
  catalog: Catalog,
  hash: string,
): Promise<(Share & { readonly plan: string }) | undefined> {
  const row = await catalog.statements.get<Row & { plan: string }>('shares.by_hash', { hash });
  return row && { ...shareOf(row), plan: row.plan };
}

/** Revokes a share. False for one that was revoked. */
export async function revokeShare(tx: Catalog, id: string, at: Microseconds): Promise<boolean> {
  return (await tx.statements.run('shares.revoke', { id, at })) > 0;
}

function shareOf({ screens, hideQueries, ...row }: Row): Share {
  return { ...row, screens: JSON.parse(screens) as ShareScreen[], hideQueries: hideQueries === 1 };
}
