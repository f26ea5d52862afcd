import type { Catalog } from '../catalog/catalog.ts';
import type { Channel, ChannelWriter } from '../catalog/channels.ts';
import { type Delivery, type DeliveryBody, recordDelivery } from '../catalog/deliveries.ts';
import type { Project } from '../catalog/projects.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { newUuid } from '../domain/ids.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import type { Settings } from '../settings/settings.ts';
import { type AttemptOptions, attempt, renderBody } from './post.ts';

interface Sent {
  readonly event: string;
  readonly subject: string;
  readonly body: DeliveryBody;
  readonly id?: string;
}

/** Sends an event once, in this process. Returns what `recordDelivery` stores of it. */
export async function attemptNow(
  settings: Settings,
  channel: Channel,
  { event, subject, body, id = newUuid() }: Sent,
  at: Microseconds,
  options: Pick<AttemptOptions, 'signal' | 'resolve'>,
) {
  const rendered = renderBody(JSON.stringify(body), settings.publicUrl);
  const result = await attempt(channel, { id, body: rendered }, { ...options, settings, now: () => at / 1000 });
  return { delivery: { id, channel: channel.id, event, subject, body: rendered, createdAt: at }, result };
}

/** Sends an event once, in this process, and stores how it ended. */
export async function sendNow(
  { settings, catalog }: { readonly settings: Settings; readonly catalog: Catalog },
  channel: Channel,
  sent: Sent,
  writer: ChannelWriter,
  options: Pick<AttemptOptions, 'signal' | 'resolve'>,
): Promise<Delivery> {
  const { delivery, result } = await attemptNow(settings, channel, sent, writer.at, options);
  return catalog.transaction((tx) => recordDelivery(tx, delivery, result, writer));
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
