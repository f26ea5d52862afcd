import { randomBytes } from 'node:crypto';
import { newUnsubscribeToken, newUuid } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { KeyFile } from '../runtime/secrets.ts';
import type { Alert } from './alerts.ts';
import { recordAudit } from './audit.ts';
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

type Row = Omit<Channel, 'events' | 'types'> & { readonly events: string; readonly types: string | null };

type NewChannel = Pick<
  Channel,
  'workspace' | 'project' | 'kind' | 'name' | 'shown' | 'events' | 'types' | 'minSeverity'
> & {
  /** Null where `shown` is the whole address. */
  readonly address: string | null;
};

/** Stores a channel and encrypts its secrets. `secret` is that of a webhook, which is returned this once. */
export async function addChannel(
  tx: Catalog,
  keyFile: KeyFile,
  { workspace, kind, address, events, types, ...rest }: NewChannel,
  at: Microseconds,
): Promise<{ channel: Channel; secret?: string }> {
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
  const channel = (await findChannel(tx, id))!;
  return { channel, ...(kind === 'webhook' && { secret: secret! }) };
}

/** The channels of a workspace, or of all, the oldest first. */
export async function listChannels(catalog: Catalog, workspace: string | null): Promise<Channel[]> {
  return (await catalog.statements.all<Row>('channels.all', { workspace, id: null })).map(toChannel);
}

export async function findChannel(catalog: Catalog, id: string): Promise<Channel | undefined> {
  const [row] = await catalog.statements.all<Row>('channels.all', { workspace: null, id });
  return row && toChannel(row);
}

/** Stores what is chosen of a channel. Disabling cancels what has not been sent. */
export async function changeChannel(
  tx: Catalog,
  { id, name, events, types, minSeverity, state }: Pick<Channel, keyof ChannelChoice | 'id'>,
  at: Microseconds,
): Promise<void> {
  await tx.statements.run('channels.change', {
    ...{ id, name, minSeverity, state },
    events: JSON.stringify(events),
    types: types === null ? null : JSON.stringify(types),
  });
  if (state !== 'disabled') return;
  // Statements of their own, which last when the catalog is lost: nobody who has unsubscribed gets mail again.
  await tx.statements.run('channels.disable', { id });
  await tx.statements.run('deliveries.cancel', { channel: id, at });
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
    await changeChannel(tx, { ...channel, state: 'disabled' }, at);
    const { workspace } = channel;
    await recordAudit(tx, { at, workspace, actor, action: 'channel.disabled', subject: id, details: { reason } });
  });
}

/** Gives a webhook a new secret; the one before signs too until an instant. */
export async function rotateChannel(
  tx: Catalog,
  keyFile: KeyFile,
  { id, secret: before }: Pick<Channel, 'id' | 'secret'>,
  until: Microseconds,
): Promise<{ secret: string; oldSecretValidUntil: Microseconds }> {
  const secret = newSigningSecret();
  const old = unseal(keyFile, { column: 'channels.secret', id }, before!);
  await tx.statements.run('channels.rotate', {
    ...{ id, until },
    secret: await seal(tx, keyFile, { column: 'channels.secret', id }, secret),
    oldSecret: await seal(tx, keyFile, { column: 'channels.old_secret', id }, old),
  });
  return { secret, oldSecretValidUntil: until };
}

/** Removes a channel with its deliveries. */
export async function removeChannel(tx: Catalog, id: string): Promise<void> {
  await tx.statements.run('channels.remove', { id });
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
