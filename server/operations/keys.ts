import { Type } from 'typebox';
import { actorOf } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  addKey,
  type CreatedKey,
  countActiveKeys,
  findKey,
  KEY_SCOPES,
  type Key,
  type KeyScope,
  listKeys,
  type NewKey,
  replaceKey,
  revokeKey,
} from '../catalog/keys.ts';
import type { Usage } from '../catalog/usage.ts';
import { requireWorkspace } from '../catalog/workspaces.ts';
import { invalidRequest } from '../domain/errors.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { isName } from '../domain/texts.ts';
import { acts, issues, lists, type Noun, OF_WORKSPACE, type Place, removes, type Work } from './operation.ts';
import { MANAGERS } from './rights.ts';

const MAX_ACTIVE_KEYS = 20;
const MAX_NAME = 100;

const KEY: Noun<Place, Key> = {
  name: 'key',
  plural: 'keys',
  of: OF_WORKSPACE,
  find: (catalog, { workspace }, id) => findKey(catalog, workspace, id),
  missing: 'The workspace has no such key.',
  show: shownKey,
  audited: ({ id, name }) => ({ subject: id, details: { name } }),
};

const name = Type.Refine(
  Type.String({ description: `What the key is for, in a line of 1 to ${MAX_NAME} characters.` }),
  (text) => isName(text, MAX_NAME),
  () => `must be a line of text of 1 to ${MAX_NAME} characters that says what the key is for`,
);

const creation = {
  roles: MANAGERS,
  audit: 'key.created',
  status: 200,
  run: async ({ tx, place: { workspace }, input, by, at }: Work<Place, Pick<NewKey, keyof Rights | 'name'>>) => {
    await requireWorkspace(tx, workspace);
    const active = await countActiveKeys(tx, workspace, at);
    if (active >= MAX_ACTIVE_KEYS) {
      throw invalidRequest(
        `Workspace '${workspace}' has ${active} active keys, which is the most it can have. Revoke one first.`,
      );
    }
    return addKey(tx, { ...input, workspace, name: input.name.trim(), by, at });
  },
  audited: ({ id, name, expiresAt, projects, scope }: CreatedKey) => ({
    subject: id,
    details: {
      name,
      ...(expiresAt === null ? {} : { expiresAt: isoInstant(expiresAt) }),
      ...(projects && { projects }),
      ...(scope && { scope }),
    },
  }),
  answer: shownCreated,
} as const;

type Rights = Pick<NewKey, 'expiresAt' | 'projects' | 'scope'>;

/** The same with what only commands can choose. */
export const keyCreation = issues(KEY, {
  ...creation,
  fields: {
    name,
    expiresAt: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
    projects: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
    scope: Type.Optional(Type.Union([Type.Unsafe<KeyScope>({ type: 'string', enum: KEY_SCOPES }), Type.Null()])),
  },
});

/**
 * Replaces a key by a new one with the same name, projects and lifetime, to which its feeds move. It stays valid until
 * `overlapEndsAt`, in microseconds. By command only.
 */
export const keyRotation = acts(KEY, 'rotate', {
  roles: MANAGERS,
  audit: 'key.rotated',
  isSecret: true,
  fields: { overlapEndsAt: Type.Number() },
  run: async ({ tx, place: { workspace }, input: { overlapEndsAt }, found: old, by, at }) => {
    const { id, expiresAt } = old;
    if (old.revokedAt !== null) throw invalidRequest(`The key '${id}' is revoked; create a new one.`);
    if (old.replacedBy !== null) {
      throw invalidRequest(`The key '${id}' was already replaced by '${old.replacedBy}'; rotate that one.`);
    }
    if (expiresAt !== null && expiresAt <= at) {
      throw invalidRequest(`The key '${id}' has expired; create a new one.`);
    }
    const end = expiresAt === null ? null : at + (expiresAt - old.createdAt);
    const { name, projects, scope } = old;
    const made = await addKey(tx, { workspace, name, by, at, expiresAt: end, projects, scope });
    await replaceKey(tx, id, made.id, overlapEndsAt);
    return { made, overlapEndsAt };
  },
  details: ({ made: { id, name }, overlapEndsAt }) => ({
    ...{ name, replacedBy: id, validUntil: isoInstant(overlapEndsAt) },
  }),
  answer: ({ made }) => shownCreated(made),
});

export const keyRevocation = removes(KEY, {
  roles: MANAGERS,
  audit: 'key.revoked',
  run: ({ tx, found: { id }, at }) => revokeKey(tx, id, at),
});

/** Keys of a workspace: owners and admins create and revoke them. */
export const KEY_OPERATIONS = [
  lists(KEY, MANAGERS, ({ catalog, usage }: { readonly catalog: Catalog; readonly usage: Usage }, { workspace }) =>
    listKeys(catalog, usage, workspace),
  ),
  issues(KEY, { ...creation, fields: { name } }),
  keyRevocation,
];

/** A key in lists. */
function shownKey({ createdAt, expiresAt, lastUsedAt, revokedAt, ...key }: Key) {
  return {
    ...key,
    createdAt: isoInstant(createdAt),
    expiresAt: isoInstantOrNull(expiresAt),
    lastUsedAt: isoInstantOrNull(lastUsedAt),
    revokedAt: isoInstantOrNull(revokedAt),
  };
}

/** A new key, as it is shown once. */
export function shownCreated({ createdAt, expiresAt, ...made }: CreatedKey) {
  return { ...made, createdAt: isoInstant(createdAt), expiresAt: isoInstantOrNull(expiresAt) };
}

/** Creates a key as a command does, at an instant. */
export async function createKey(
  catalog: Catalog,
  { workspace, at, ...input }: Omit<NewKey, 'by'> & { readonly at: Microseconds },
): Promise<CreatedKey> {
  const request = { workspace, project: undefined, id: undefined, at, by: actorOf(null), role: 'owner' } as const;
  return (await keyCreation.perform({ catalog }, { ...request, input, signal: new AbortController().signal })).result;
}
