import { hash as digest, timingSafeEqual } from 'node:crypto';
import { newKey, newUuid } from '../domain/ids.ts';
import { isoInstant, type Microseconds } from '../domain/instants.ts';
import { isName } from '../domain/texts.ts';
import { actorOf, recordAudit } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { readKeyUses } from './key-use.ts';
import { findProject } from './projects.ts';
import { createOnce, type Submission } from './submissions.ts';
import type { Usage } from './usage.ts';
import { findRole, requireWorkspace } from './workspaces.ts';

const MAX_ACTIVE_KEYS = 20;
const MAX_NAME = 100;
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
  /** Email address of an owner or admin; null: an operator. */
  readonly by: string | null;
  readonly at: Microseconds;
  /** Null: it does not expire. */
  readonly expiresAt?: Microseconds | null;
  /** The projects that it may read; null: all of its workspace. */
  readonly projects?: readonly string[] | null;
  readonly scope?: KeyScope | null;
  readonly submission?: Submission;
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

/** A key cannot be created or revoked; the message gives the reason. */
export class KeyRefused extends Error {}

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
export function projectsOf(list: string | null): readonly string[] | null {
  return list === null ? null : (JSON.parse(list) as string[]).sort();
}

/** Creates a key, which is returned but not stored in full. `by`, if given, must be an owner or admin. */
export async function createKey(catalog: Catalog, wanted: NewKey): Promise<CreatedKey> {
  const { workspace, by, at, submission } = wanted;
  if (!isName(wanted.name, MAX_NAME)) {
    throw new KeyRefused(`'name' must be a line of text of 1 to ${MAX_NAME} characters that says what the key is for.`);
  }
  const create = async (tx: Catalog): Promise<CreatedKey> => {
    await requireWorkspace(tx, workspace);
    await requireManager(tx, workspace, by);
    const active = await countActive(tx, workspace, at);
    if (active >= MAX_ACTIVE_KEYS) {
      throw new KeyRefused(
        `Workspace '${workspace}' has ${active} active keys, which is the most it can have. Revoke one first.`,
      );
    }
    const made = await insertKey(tx, { ...wanted, name: wanted.name.trim() });
    const { id, name, expiresAt, projects, scope } = made;
    const details = {
      name,
      ...(expiresAt === null ? {} : { expiresAt: isoInstant(expiresAt) }),
      ...(projects && { projects }),
      ...(scope && { scope }),
    };
    await recordAudit(tx, { at, workspace, actor: actorOf(by), action: 'key.created', subject: id, details });
    return made;
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => create(tx)));
}

/**
 * Replaces a key by a new one with the same name, projects and lifetime. The old key stays valid until `overlapEndsAt`. Its
 * feeds move to the new key. `by`, if given, must be an owner or admin.
 */
export async function rotateKey(
  catalog: Catalog,
  {
    id,
    workspace,
    by,
    at,
    overlapEndsAt,
  }: Pick<NewKey, 'workspace' | 'by' | 'at'> & {
    readonly id: string;
    readonly overlapEndsAt: Microseconds;
  },
): Promise<CreatedKey> {
  return catalog.transaction(async (tx) => {
    const old = await requireKey(tx, workspace, id);
    await requireManager(tx, workspace, by);
    if (old.revokedAt !== null) throw new KeyRefused(`The key '${id}' is revoked; create a new one.`);
    if (old.replacedBy !== null) {
      throw new KeyRefused(`The key '${id}' was already replaced by '${old.replacedBy}'; rotate that one.`);
    }
    if (old.expiresAt !== null && old.expiresAt <= at) {
      throw new KeyRefused(`The key '${id}' has expired; create a new one.`);
    }
    const expiresAt = old.expiresAt === null ? null : at + (old.expiresAt - old.createdAt);
    const { name, projects, scope } = old;
    const made = await insertKey(tx, { workspace, name, by, at, expiresAt, projects, scope });
    await tx.statements.run('keys.replace', { id, by: made.id, expiresAt: overlapEndsAt });
    await tx.statements.run('feeds.move', { from: id, to: made.id });
    const details = { name: old.name, replacedBy: made.id, validUntil: isoInstant(overlapEndsAt) };
    await recordAudit(tx, { at, workspace, actor: actorOf(by), action: 'key.rotated', subject: id, details });
    return made;
  });
}

async function countActive(tx: Catalog, workspace: string, at: Microseconds): Promise<number> {
  return (await tx.statements.get<{ count: number }>('keys.count_active', { workspace, at }))?.count ?? 0;
}

async function insertKey(
  tx: Catalog,
  { workspace, name, by, at, expiresAt = null, projects = null, scope = null }: NewKey,
): Promise<CreatedKey> {
  if (expiresAt !== null && expiresAt <= at) throw new KeyRefused('A key must expire in the future.');
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
      throw new KeyRefused(`Workspace '${workspace}' has no project '${project}'; \`projects list\` shows all.`);
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

async function requireKey(catalog: Catalog, workspace: string, id: string): Promise<Key> {
  const key = (await keysOf(catalog, workspace)).find((candidate) => candidate.id === id);
  if (key === undefined) throw new KeyRefused(`Workspace '${workspace}' has no key with the id '${id}'.`);
  return key;
}

/** Revokes a key permanently, with immediate effect. Idempotent. */
export async function revokeKey(
  catalog: Catalog,
  { id, workspace, by, at }: { id: string; workspace: string; by: string | null; at: Microseconds },
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const { name, revokedAt } = await requireKey(tx, workspace, id);
    await requireManager(tx, workspace, by);
    if (revokedAt !== null) return;
    await tx.statements.run('keys.revoke', { id, workspace, at });
    const details = { name };
    await recordAudit(tx, { at, workspace, actor: actorOf(by), action: 'key.revoked', subject: id, details });
  });
}

async function requireManager(catalog: Catalog, workspace: string, by: string | null): Promise<void> {
  if (by === null) return;
  const role = await findRole(catalog, workspace, by);
  if (role === 'owner' || role === 'admin') return;
  const found = role === undefined ? 'is not a member of the workspace' : `is a ${role}`;
  throw new KeyRefused(`Only an owner or admin can create or revoke keys; '${by}' ${found}.`);
}

/** The stored hash of a key. */
export function hashOf(key: string): string {
  return digest('sha256', key);
}
