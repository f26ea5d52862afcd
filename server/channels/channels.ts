import { ALERT_KINDS } from '../alerts/alert.ts';
import { recordAudit, type Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import {
  CHANNEL_EVENTS,
  type Channel,
  type ChannelChoice,
  type ChannelKind,
  type ChannelWriter,
  createChannel,
  rotateChannel,
} from '../catalog/channels.ts';
import { type Delivery, type DeliveryBody, recordDelivery } from '../catalog/deliveries.ts';
import { findAnyProject, type Project } from '../catalog/projects.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { invalidRequest, KnownError, notFound } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import { isoInstant, isoInstantOrNull } from '../domain/instants.ts';
import { orAborted } from '../runtime/promises.ts';
import type { Settings } from '../settings/settings.ts';
import { isMailAddress } from '../settings/values.ts';
import { AddressRefused, parseAddress, resolveAddress } from './addresses.ts';
import { missingMailSetting } from './mail.ts';
import { oneLine } from './message.ts';
import { type AttemptOptions, attempt, renderBody } from './post.ts';

/** Types of alerts that a channel can choose. */
const ALERT_TYPES: readonly string[] = Object.keys(ALERT_KINDS);

const DEFAULT_EVENTS = CHANNEL_EVENTS.filter((event) => !event.startsWith('digest.'));
const MAX_NAME = 100;
/** Milliseconds until a name counts as one that cannot be resolved. */
const RESOLVE_LIMIT = 5000;

export interface ChannelStores {
  readonly settings: Settings;
  readonly catalog: Catalog;
}

export interface WantedChannel extends Partial<Omit<ChannelChoice, 'state'>> {
  readonly workspace: string;
  /** All projects of the workspace without it. */
  readonly project?: string | null;
  readonly kind: ChannelKind;
  /** The address: of mail, or of the web. */
  readonly to: string;
}

/** Adds a channel. Throws `invalid_request`, and `conflict` without the settings that it needs. */
export async function addChannel(
  { settings, catalog }: ChannelStores,
  { workspace, project = null, kind, to, ...choice }: WantedChannel,
  writer: ChannelWriter & { readonly submission?: Submission },
): Promise<{ channel: Channel; secret?: string }> {
  const isOwn = project === null || (await findAnyProject(catalog, project))?.workspaceId === workspace;
  if (!isOwn) throw invalidRequest(`project: the workspace has no project '${project}'.`);
  checkChoice(choice);
  const { shown, address } = kind === 'email' ? checkMail(settings, to) : await checkWeb(settings, to);
  const { name = kind === 'email' ? shown : new URL(to).hostname, events = DEFAULT_EVENTS } = choice;
  const { types = null, minSeverity = null } = choice;
  const wanted = { workspace, project, kind, shown, address, events: unique(events), types: types && unique(types) };
  return createChannel(catalog, settings, { ...wanted, minSeverity, name: oneLine(name) }, writer);
}

/** Throws `invalid_request` for a choice that names what does not exist. */
export function checkChoice({ name, events, types }: Partial<ChannelChoice>): void {
  if (name !== undefined && (oneLine(name) === '' || name.length > MAX_NAME)) {
    throw invalidRequest(`name must be a text of 1 to ${MAX_NAME} characters.`);
  }
  const unknownEvent = events?.find((event) => !CHANNEL_EVENTS.includes(event));
  if (unknownEvent !== undefined || events?.length === 0) {
    throw invalidRequest(`events must be some of ${CHANNEL_EVENTS.join(', ')}.`);
  }
  const unknownType = types?.find((type) => !ALERT_TYPES.includes(type));
  if (unknownType !== undefined || types?.length === 0) {
    throw invalidRequest(`types must be some of ${ALERT_TYPES.join(', ')}.`);
  }
}

function checkMail(settings: Settings, to: string): { shown: string; address: null } {
  if (!isMailAddress(to)) throw invalidRequest('to must be one address of mail, such as team@example.com.');
  const missing = missingMailSetting(settings);
  if (missing !== undefined) throw new KnownError('conflict', `Mail cannot be sent: ${missing} is not set.`);
  return { shown: to, address: null };
}

async function checkWeb(settings: Settings, to: string): Promise<{ shown: string; address: string }> {
  const loopback = settings.deliveryLoopback;
  try {
    const url = parseAddress(to, { loopback });
    await orAborted(resolveAddress(url, { loopback }), AbortSignal.timeout(RESOLVE_LIMIT)).catch((error: unknown) => {
      // A name that cannot be resolved now may be resolved later; it is checked again for each attempt.
      if (error instanceof AddressRefused) throw error;
    });
    return { shown: `${url.protocol}//${url.host}/…`, address: url.href };
  } catch (error) {
    if (error instanceof AddressRefused) throw invalidRequest(`to ${error.message}.`);
    throw error;
  }
}

/** Sends a test at once, and waits for the answer. */
export async function testChannel(
  { settings, catalog }: ChannelStores,
  channel: Channel,
  writer: ChannelWriter,
  signal: AbortSignal,
): Promise<Delivery> {
  const { id, name, workspace } = channel;
  const project = channel.project === null ? undefined : await findAnyProject(catalog, channel.project);
  const data = { ...(await ownerOf(catalog, workspace, project)), channel: { id, name }, link: '/app' };
  const event = { type: 'channel.test', timestamp: isoInstant(writer.at), data };
  const delivery = { event: 'channel.test', subject: id, body: event };
  return sendNow({ settings, catalog }, channel, delivery, writer, { signal, action: 'channel.tested' });
}

/** Sends an event once, in this process, and stores how it ended. */
export async function sendNow(
  { settings, catalog }: ChannelStores,
  channel: Channel,
  { event, subject, body, id = newUuid() }: { event: string; subject: string; body: DeliveryBody; id?: string },
  { by, at }: ChannelWriter,
  { action, ...options }: Pick<AttemptOptions, 'signal' | 'resolve'> & { action?: 'channel.tested' },
): Promise<Delivery> {
  const rendered = renderBody(JSON.stringify(body), settings.publicUrl);
  const now = (): number => at / 1000;
  const result = await attempt(channel, { id, body: rendered }, { ...options, settings, now });
  return catalog.transaction(async (tx) => {
    const { workspace, id: subjectId } = channel;
    if (action) {
      const details = { outcome: result.outcome, status: result.status };
      await recordAudit(tx, { at, workspace, actor: by, action, subject: subjectId, details });
    }
    const delivery = { id, channel: channel.id, event, subject, body: rendered, createdAt: at };
    return recordDelivery(tx, delivery, result, { by, at });
  });
}

/** The workspace and project of an event. */
export async function ownerOf(
  catalog: Catalog,
  workspace: string,
  project: Project | undefined,
): Promise<Pick<DeliveryBody['data'], 'workspace' | 'project'>> {
  const found = await findWorkspace(catalog, workspace);
  return {
    workspace: { id: workspace, name: found?.name ?? workspace },
    project: project === undefined ? null : { id: project.id, domain: project.domain },
  };
}

/** Gives a webhook a new secret. Throws `conflict` for other channels. @param overlap milliseconds */
export async function rotateSecret(
  { settings, catalog }: ChannelStores,
  { id, kind }: Channel,
  overlap: number,
  writer: ChannelWriter & { readonly submission?: Submission },
): Promise<{ secret: string; oldSecretValidUntil: string }> {
  if (kind !== 'webhook') throw new KnownError('conflict', `A channel of kind ${kind} has no secret to rotate.`);
  const rotated = await rotateChannel(catalog, settings, { id, until: writer.at + overlap * 1000 }, writer);
  if (rotated === undefined) throw notFound('The channel was removed.');
  return { secret: rotated.secret, oldSecretValidUntil: isoInstant(rotated.oldSecretValidUntil) };
}

/** A channel as lists show it. */
export function shownChannel({
  id,
  kind,
  shown: to,
  name,
  project,
  events,
  types,
  minSeverity,
  state,
  createdAt,
}: Channel) {
  return { id, kind, to, name, project, events, types, minSeverity, state, createdAt: isoInstant(createdAt) };
}

/** A delivery as lists show it. */
export function shownDelivery(delivery: Delivery) {
  const { id, channel, event, subject, state, attempts, nextAt, status, answer, createdAt, sentAt } = delivery;
  // The first attempt is due whatever the clock of the node says.
  const next = nextAt === null ? null : isoInstant(Math.max(nextAt, createdAt));
  const instants = { createdAt: isoInstant(createdAt), sentAt: isoInstantOrNull(sentAt) };
  return { id, channel, event, subject, state, attempts, nextAt: next, status, answer, ...instants };
}

const unique = <T extends string>(values: readonly T[]): T[] => [...new Set(values)];
