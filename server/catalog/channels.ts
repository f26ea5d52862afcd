import { randomBytes } from 'node:crypto';
import { newUnsubscribeToken, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import { requireVersion, versionOf } from '../domain/versions.ts';
import type { KeyFile } from '../runtime/secrets.ts';
import type { Alert } from './alerts.ts';
import { createOnce, recordAudit, type Submission } from './audit.ts';
import type { Catalog } from './catalog.ts';
import { hashOf } from './keys.ts';
import { seal, unseal } from './secrets.ts';

export const CHANNEL_KINDS = ['email', 'webhook', 'slack', 'discord', 'teams', 'google-chat'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const CHANNEL_EVENTS = [
  'alert.opened',
  'alert.resolved',
  'sync.failed',
  'sync.recovered',
  'digest.weekly',
  'digest.monthly',
] as const;
export type ChannelEvent = (typeof CHANNEL_EVENTS)[number];

/** What a channel is notified of, as its owner chooses it. */
export interface ChannelChoice {
  readonly name: string;
  readonly events: readonly ChannelEvent[];
  /** Types of alerts; null for all. */
  readonly types: readonly string[] | null;
  readonly minSeverity: Alert['severity'] | null;
  readonly state: 'on' | 'disabled';
}

/** A channel of delivery. Its secrets are encrypted. */
export interface Channel extends ChannelChoice {
  readonly id: string;
  readonly workspace: string;
  /** Null for all projects of the workspace. */
  readonly project: string | null;
  readonly kind: ChannelKind;
  /** The address as lists show it. */
  readonly shown: string;
  /** Encrypted; null where `shown` is the whole address. */
  readonly address: string | null;
  /** Encrypted: what signs webhooks, or the token of unsubscribe links. */
  readonly secret: string | null;
  /** Encrypted: the secret before, which signs too for some time. */
  readonly oldSecret: string | null;
  readonly oldSecretUntil: Microseconds | null;
  readonly createdAt: Microseconds;
}

/** Who changes a channel, and when. */
export interface ChannelWriter {
  readonly by: string;
  readonly at: Microseconds;
}

/** Who creates something, by which form. */
type Creator = ChannelWriter & { readonly submission?: Submission };

type Row = Omit<Channel, 'events' | 'types'> & { readonly events: string; readonly types: string | null };

type NewChannel = Pick<
  Channel,
  'workspace' | 'project' | 'kind' | 'name' | 'shown' | 'events' | 'types' | 'minSeverity'
> & {
  /** Null where `shown` is the whole address. */
  readonly address: string | null;
};

/** Stores a channel and encrypts its secrets. `secret` is that of a webhook, which is returned this once. */
export async function createChannel(
  catalog: Catalog,
  keyFile: KeyFile,
  wanted: NewChannel,
  { by: actor, at, submission }: Creator,
): Promise<{ channel: Channel; secret?: string }> {
  const { workspace, kind, address, events, types, ...rest } = wanted;
  const create = async (tx: Catalog): Promise<{ channel: Channel; secret?: string }> => {
    const id = newUuid();
    const secret = kind === 'webhook' ? newSigningSecret() : kind === 'email' ? newUnsubscribeToken() : null;
    await tx.statements.run('channels.add', {
      ...{ ...rest, workspace, kind, id, createdAt: at },
      address: address === null ? null : await seal(tx, keyFile, { column: 'channels.address', id }, address),
      events: JSON.stringify(events),
      types: types === null ? null : JSON.stringify(types),
      secret: secret === null ? null : await seal(tx, keyFile, { column: 'channels.secret', id }, secret),
      tokenHash: kind === 'email' ? hashOf(secret!) : null,
    });
    const details = { kind, to: rest.shown, project: rest.project };
    await recordAudit(tx, { at, workspace, actor, action: 'channel.created', subject: id, details });
    const channel = (await findChannel(tx, id))!;
    return { channel, ...(kind === 'webhook' && { secret: secret! }) };
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => create(tx)));
}

/** The channels of a workspace, or of all, the oldest first. */
export async function listChannels(catalog: Catalog, workspace: string | null): Promise<Channel[]> {
  return (await catalog.statements.all<Row>('channels.all', { workspace, id: null })).map(toChannel);
}

export async function findChannel(catalog: Catalog, id: string): Promise<Channel | undefined> {
  const [row] = await catalog.statements.all<Row>('channels.all', { workspace: null, id });
  return row && toChannel(row);
}

/** Identifies what members edit of a channel. */
export function channelVersion({ name, events, types, minSeverity, state }: Channel): string {
  return versionOf({ name, events, types, minSeverity, state });
}

/** Stores a choice. Throws `outdated`. Disabling cancels what has not been sent. Undefined if the channel was removed. */
export async function changeChannel(
  catalog: Catalog,
  id: string,
  changes: Partial<ChannelChoice>,
  { by: actor, at, version }: ChannelWriter & { readonly version?: string },
): Promise<Channel | undefined> {
  return catalog.transaction(async (tx) => {
    const before = await findChannel(tx, id);
    if (before === undefined) return undefined;
    requireVersion(channelVersion(before), version);
    const { name, events, types, minSeverity, state } = { ...before, ...changes };
    await tx.statements.run('channels.change', {
      ...{ id, name, minSeverity, state },
      events: JSON.stringify(events),
      types: types === null ? null : JSON.stringify(types),
    });
    if (state === 'disabled') await tx.statements.run('deliveries.cancel', { channel: id, at });
    const { workspace } = before;
    await recordAudit(tx, { at, workspace, actor, action: 'channel.changed', subject: id, details: changes });
    return { ...before, name, events, types, minSeverity, state };
  });
}

/** Disables a channel on behalf of its receiver, and cancels what it has not been sent; does nothing a second time. */
export async function disableChannel(
  catalog: Catalog,
  id: string,
  reason: 'gone' | 'unsubscribed',
  { by: actor, at }: ChannelWriter,
): Promise<void> {
  await catalog.transaction(async (tx) => {
    const channel = await findChannel(tx, id);
    if (channel === undefined || channel.state === 'disabled') return;
    const { workspace, name, events, types, minSeverity } = channel;
    await tx.statements.run('channels.change', {
      ...{ id, name, minSeverity, state: 'disabled' },
      events: JSON.stringify(events),
      types: types === null ? null : JSON.stringify(types),
    });
    await tx.statements.run('deliveries.cancel', { channel: id, at });
    await recordAudit(tx, { at, workspace, actor, action: 'channel.disabled', subject: id, details: { reason } });
  });
}

/** Gives a webhook a new secret; the one before signs too until `until`. Undefined if the channel was removed. */
export async function rotateChannel(
  catalog: Catalog,
  keyFile: KeyFile,
  { id, until }: { id: string; until: Microseconds },
  { by: actor, at, submission }: Creator,
): Promise<{ secret: string; oldSecretValidUntil: Microseconds } | undefined> {
  const rotate = async (tx: Catalog) => {
    const channel = await findChannel(tx, id);
    if (channel === undefined) return undefined;
    const secret = newSigningSecret();
    const old = unseal(keyFile, { column: 'channels.secret', id }, channel.secret!);
    await tx.statements.run('channels.rotate', {
      ...{ id, until },
      secret: await seal(tx, keyFile, { column: 'channels.secret', id }, secret),
      oldSecret: await seal(tx, keyFile, { column: 'channels.old_secret', id }, old),
    });
    const { workspace } = channel;
    await recordAudit(tx, { at, workspace, actor, action: 'channel.rotated', subject: id });
    return { secret, oldSecretValidUntil: until };
  };
  return catalog.transaction((tx) => createOnce(tx, submission, () => rotate(tx)));
}

/** Removes a channel with its deliveries. False if there is none. */
export async function removeChannel(catalog: Catalog, id: string, { by: actor, at }: ChannelWriter): Promise<boolean> {
  return catalog.transaction(async (tx) => {
    const channel = await findChannel(tx, id);
    if (channel === undefined) return false;
    await tx.statements.run('channels.remove', { id });
    const { workspace, kind, shown: to } = channel;
    const details = { kind, to };
    await recordAudit(tx, { at, workspace, actor, action: 'channel.removed', subject: id, details });
    return true;
  });
}

/** The whole address of a channel. Throws `SecretsFailure` without its key. */
export function addressOf(keyFile: KeyFile, { id, shown, address }: Channel): string {
  return address === null ? shown : unseal(keyFile, { column: 'channels.address', id }, address);
}

/** The secrets that count at an instant, the current one first. Throws `SecretsFailure` without their key. */
export function secretsOf(keyFile: KeyFile, channel: Channel, at: Microseconds): string[] {
  const { id, secret, oldSecret, oldSecretUntil } = channel;
  if (secret === null) return [];
  const current = unseal(keyFile, { column: 'channels.secret', id }, secret);
  if (oldSecret === null || (oldSecretUntil ?? 0) <= at) return [current];
  return [current, unseal(keyFile, { column: 'channels.old_secret', id }, oldSecret)];
}

/** The id of the channel that an unsubscribe link is of. */
export async function findChannelOfToken(catalog: Catalog, token: string): Promise<string | undefined> {
  return (await catalog.statements.get<{ id: string }>('channels.by_token', { hash: hashOf(token) }))?.id;
}

/** As Standard Webhooks writes them: 24 to 64 random bytes. */
function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function toChannel({ events, types, ...row }: Row): Channel {
  return {
    ...row,
    events: JSON.parse(events) as ChannelEvent[],
    types: types === null ? null : (JSON.parse(types) as string[]),
  };
}
