import { hash as digest, timingSafeEqual } from 'node:crypto';
import { newKey, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import { readKeyUses } from './key-use.ts';
import type { UsageDatabase } from './usage.ts';
import { requireWorkspace } from './workspaces.ts';

const MAX_ACTIVE_KEYS = 20;
const PREFIX_LENGTH = 'ord_live_'.length + 4;

/** The identity of a valid key. */
export interface Access {
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
  readonly lastUsedAt: Microseconds | null;
  readonly revokedAt: Microseconds | null;
}

/** A key cannot be created or revoked; the message gives the reason. */
export class KeyRefused extends Error {}

/**
 * The access of a key by its hash; undefined if it is unknown or revoked. Only hashes are compared, so timing reveals nothing
 * about stored keys.
 */
export async function findAccess(catalog: Catalog, hash: string): Promise<Access | undefined> {
  const row = await catalog.statements.get<Access & { hash: string }>('access_by_hash', { hash });
  if (row === undefined || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) return undefined;
  return { keyId: row.keyId, workspaceId: row.workspaceId, plan: row.plan };
}

/** Creates a key, which is returned but not stored in full. `by`, if given, must be an owner or admin. */
export async function createKey(
  catalog: Catalog,
  { workspace, name, by, at }: { workspace: string; name: string; by: string | null; at: Microseconds },
): Promise<{ id: string; key: string; name: string; prefix: string; createdAt: Microseconds }> {
  if (name.trim() === '') throw new KeyRefused('A key needs a name that describes its purpose.');
  const id = newUuid();
  const key = newKey();
  const prefix = key.slice(0, PREFIX_LENGTH);
  await catalog.transaction(async (own) => {
    await requireWorkspace(own, workspace);
    await requireManager(own, workspace, by);
    const counted = await own.statements.get<{ count: number }>('keys_active_count', { workspace });
    const active = counted?.count ?? 0;
    if (active >= MAX_ACTIVE_KEYS) {
      throw new KeyRefused(
        `Workspace '${workspace}' has ${active} active keys, which is the most it can have. Revoke one first.`,
      );
    }
    await own.statements.run('key_insert', { id, workspace, name, prefix, hash: hashOf(key), at, by });
  });
  return { id, key, name, prefix, createdAt: at };
}

/** The keys of a workspace, oldest first. */
export async function listKeys(catalog: Catalog, usage: UsageDatabase, workspace: string): Promise<Key[]> {
  const uses = await readKeyUses(usage);
  return (await keysOf(catalog, workspace)).map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? key.lastUsedAt }));
}

/** The id of the oldest active key of this name; undefined if there is none. */
export async function findActiveKey(
  catalog: Catalog,
  { workspace, name }: { workspace: string; name: string },
): Promise<string | undefined> {
  const keys = await catalog.statements.all<Key>('keys_of_workspace', { workspace });
  return keys.find((key) => key.name === name && key.revokedAt === null)?.id;
}

/** Keys with the last use that older versions stored in the catalog. */
async function keysOf(catalog: Catalog, workspace: string): Promise<Key[]> {
  await requireWorkspace(catalog, workspace);
  return catalog.statements.all<Key>('keys_of_workspace', { workspace });
}

/** Revokes a key permanently, with immediate effect. Idempotent. */
export async function revokeKey(
  catalog: Catalog,
  { id, workspace, by, at }: { id: string; workspace: string; by: string | null; at: Microseconds },
): Promise<void> {
  await catalog.transaction(async (own) => {
    const key = (await keysOf(own, workspace)).find((candidate) => candidate.id === id);
    if (key === undefined) throw new KeyRefused(`Workspace '${workspace}' has no key with the id '${id}'.`);
    await requireManager(own, workspace, by);
    await own.statements.run('key_revoke', { id, workspace, at });
  });
}

async function requireManager(catalog: Catalog, workspace: string, by: string | null): Promise<void> {
  if (by === null) return;
  const member = await catalog.statements.get<{ role: string }>('member_role', { workspace, email: by });
  const role = member?.role;
  if (role === 'owner' || role === 'admin') return;
  const found = role === undefined ? 'is not a member of the workspace' : `is a ${role}`;
  throw new KeyRefused(`Only an owner or admin can create or revoke keys; '${by}' ${found}.`);
}

/** The stored hash of a key. */
export function hashOf(key: string): string {
  return digest('sha256', key);
}
