import { createHash } from 'node:crypto';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { ChannelEvent } from './channels.ts';
import type { DeliveryBody, ShownAlert, SyncNews } from './delivery-body.ts';
import type { Alert } from './events.ts';
import type { Project } from './projects.ts';
import { findWorkspace } from './workspaces.ts';

/** What happened, for the outbox. */
interface Happened {
  readonly event: ChannelEvent;
  /** What it happened to: the id of an alert or a project. */
  readonly subject: string;
  readonly at: Microseconds;
  readonly project: Project;
  /** The path of the dashboard that shows it. */
  readonly path: string;
  readonly data: Pick<DeliveryBody['data'], 'alert' | 'sync'>;
}

const SEVERITIES: readonly Alert['severity'][] = ['info', 'warning', 'critical'];

/** Writes that an alert has opened or resolved, in the transaction in which it does. */
export async function announceAlert(
  tx: Catalog,
  event: 'alert.opened' | 'alert.resolved',
  project: Project,
  alert: Alert,
): Promise<void> {
  const { id, createdAt, resolvedAt } = alert;
  const path = alertPath(project.id, id);
  const at = event === 'alert.opened' ? createdAt : (resolvedAt ?? createdAt);
  await announce(tx, { event, subject: id, at, project, path, data: { alert: shownAlert(project.id, alert) } });
}

/** An alert as `/alerts` shows it; its link is a path until it is sent. */
export function shownAlert(project: string, alert: Alert): ShownAlert {
  const { id, type, kind, severity, title, body, date, keywordId, url, createdAt, resolvedAt } = alert;
  return {
    ...{ id, type, kind, severity, title, body, date, keywordId, url: url ?? alertPath(project, id) },
    createdAt: isoInstant(createdAt),
    resolvedAt: isoInstantOrNull(resolvedAt),
  };
}

function alertPath(project: string, alert: string): string {
  return `/app/p/${encodeURIComponent(project)}/alerts?status=all&alert=${encodeURIComponent(alert)}`;
}

/** Writes that the sync of a project has failed or recovered, in the transaction that changes its status. */
export async function announceSync(
  tx: Catalog,
  project: Project,
  { at, ...news }: Pick<SyncNews, 'reason' | 'provider'> & { status: Project['syncStatus']; at: Microseconds },
): Promise<void> {
  const event = news.status === 'ok' ? 'sync.recovered' : 'sync.failed';
  const path = `/app/p/${encodeURIComponent(project.id)}`;
  const data = { sync: { ...news, since: isoInstant(at) } };
  await announce(tx, { event, subject: project.id, at, project, path, data });
}

async function announce(tx: Catalog, { event, subject, at, project, path, data }: Happened): Promise<void> {
  type Row = { id: string; events: string; types: string | null; minSeverity: Alert['severity'] | null };
  const { workspaceId, id, domain } = project;
  const listening = await tx.statements.all<Row>('channels.listening', { workspace: workspaceId, project: id });
  const channels = listening.filter(({ events, types, minSeverity }) => {
    if (!(JSON.parse(events) as string[]).includes(event)) return false;
    const { alert } = data;
    if (alert === undefined) return true;
    if (types !== null && !(JSON.parse(types) as string[]).includes(alert.type)) return false;
    return minSeverity === null || SEVERITIES.indexOf(alert.severity) >= SEVERITIES.indexOf(minSeverity);
  });
  if (channels.length === 0) return;
  const { name } = (await findWorkspace(tx, workspaceId))!;
  const body: DeliveryBody = {
    type: event,
    timestamp: isoInstant(at),
    data: { workspace: { id: workspaceId, name }, project: { id, domain }, ...data, link: path },
  };
  // An alert opens and resolves once; the sync may fail again.
  const once = data.sync === undefined ? [event, subject] : [event, subject, at];
  for (const { id: channel } of channels) {
    await tx.statements.run('deliveries.add', {
      ...{ id: deliveryId(channel, once), channel, event, subject, body: JSON.stringify(body) },
      // The time of an event may be that of a day long ago; it is due at once.
      ...{ nextAt: 0, createdAt: at },
    });
  }
}

/** A deterministic id, so that what a restored catalog announces again has the id that receivers know. */
export function deliveryId(channel: string, about: readonly (string | number)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([channel, ...about]))
    .digest('hex');
  // UUID version 8: custom.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
