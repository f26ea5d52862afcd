import { createHash } from 'node:crypto';
import type { Compared } from '../domain/comparison.ts';
import type { Day } from '../domain/dates.ts';
import type { DigestPeriod } from '../domain/digest-periods.ts';
import { newUuid } from '../domain/ids.ts';
import { isoInstant, isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import type { Alert, Note } from './alerts.ts';
import type { Catalog } from './catalog.ts';
import { type ChannelEvent, type ChannelWriter, disableChannel, findChannel, listChannels } from './channels.ts';
import { WORDS } from './entities.ts';
import type { Project } from './projects.ts';
import { findWorkspace } from './workspaces.ts';

/** A delivery of an event over a channel, as lists show it. */
export interface Delivery {
  /** One for each event and channel: the `webhook-id`. */
  readonly id: string;
  readonly channel: string;
  readonly event: string;
  /** What the event is about. */
  readonly subject: string;
  readonly state: 'pending' | 'sent' | 'failed' | 'cancelled';
  readonly attempts: number;
  /** Of the next attempt; null if there is none. */
  readonly nextAt: Microseconds | null;
  /** Of the last answer; null without one. */
  readonly status: number | null;
  /** The beginning of the last answer, or why there was none. */
  readonly answer: string | null;
  readonly createdAt: Microseconds;
  readonly sentAt: Microseconds | null;
}

/** A delivery that this process sends. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly channel: string;
  readonly body: string;
  /** Differs for each claim. */
  readonly claim: string;
}

/** How an attempt ended. `retry`: it may succeed later; `gone`: the receiver wants no more. */
export interface AttemptResult {
  readonly outcome: 'sent' | 'retry' | 'failed' | 'gone';
  readonly status: number | null;
  readonly answer: string | null;
}

/** How long a claim lasts without being renewed: what a killed sender holds. */
const CLAIM = 25_000_000;
/** Attempts of one channel at a time. */
const AT_ONCE = 4;
const KEPT = 30 * 86_400_000_000;
/** Deliveries to forget at a time. */
const FORGOTTEN = 2000;

/**
 * Claims what is due and no other sender has.
 * @param render the body of the first attempt and of all later ones
 */
export async function claimDeliveries(
  catalog: Catalog,
  now: Microseconds,
  render: (body: string) => string,
): Promise<ClaimedDelivery[]> {
  const due = (reader: Catalog): Promise<Omit<ClaimedDelivery, 'claim'>[]> =>
    reader.statements.all('deliveries.due', { now, latest: now + 2 * CLAIM, atOnce: AT_ONCE });
  // A transaction makes all processes read again, so there is none without work.
  if ((await due(catalog)).length === 0) return [];
  return catalog.transaction(async (tx) => {
    const claimed: ClaimedDelivery[] = [];
    for (const { id, channel, body } of await due(tx)) {
      const delivery = { id, channel, body: render(body), claim: newUuid() };
      const { claim, body: rendered } = delivery;
      await tx.statements.run('deliveries.claim', { id, claim, until: now + CLAIM, body: rendered });
      claimed.push(delivery);
    }
    return claimed;
  });
}

/** How many deliveries wait to be sent, and when the first of them was due; null if none is due. */
export async function readPendingDeliveries(
  { statements }: Catalog,
  now: Microseconds,
): Promise<{ readonly pending: number; readonly dueSince: Microseconds | null }> {
  return (await statements.get<{ pending: number; dueSince: number | null }>('deliveries.pending', { now }))!;
}

/** Keeps claims while attempts run. */
export async function renewClaims(
  catalog: Catalog,
  claims: readonly ClaimedDelivery[],
  now: Microseconds,
): Promise<void> {
  if (claims.length === 0) return;
  await catalog.transaction(async (tx) => {
    for (const { id, claim } of claims) await tx.statements.run('deliveries.renew', { id, claim, until: now + CLAIM });
  });
}

/**
 * Stores how an attempt ended, unless the delivery was claimed by another sender since.
 * @param nextAt when to try again after so many attempts; null for never
 */
export async function endAttempt(
  catalog: Catalog,
  { id, claim }: ClaimedDelivery,
  result: AttemptResult,
  { nextAt, ...writer }: ChannelWriter & { nextAt: (attempts: number) => Microseconds | null },
): Promise<Delivery['state'] | undefined> {
  return catalog.transaction(async (tx) => {
    const before = await findDelivery(tx, id);
    if (before === undefined || before.claim !== claim) return undefined;
    const attempts = before.attempts + 1;
    const next = result.outcome === 'retry' && before.state === 'pending' ? nextAt(attempts) : null;
    const state = next === null ? endedState(before.state, result) : 'pending';
    const { status, answer } = result;
    const sentAt = state === 'sent' ? writer.at : null;
    const endedAt = state === 'pending' ? null : writer.at;
    await tx.statements.run('deliveries.end_attempt', {
      id,
      state,
      attempts,
      nextAt: next,
      status,
      answer,
      sentAt,
      endedAt,
    });
    if (result.outcome === 'gone') await disableChannel(tx, before.channel, 'gone', writer);
    return state;
  });
}

/** It may have been cancelled meanwhile. */
function endedState(before: Delivery['state'], { outcome }: AttemptResult): Delivery['state'] {
  if (outcome === 'sent') return 'sent';
  return before === 'pending' ? 'failed' : before;
}

/** Stores a delivery that was sent, or not, when somebody asked for it; there was one attempt. */
export async function recordDelivery(
  tx: Catalog,
  delivery: Pick<Delivery, 'id' | 'channel' | 'event' | 'subject' | 'createdAt'> & { readonly body: string },
  { outcome, status, answer }: AttemptResult,
  { by, at }: ChannelWriter,
): Promise<Delivery> {
  const { id, channel, event, subject, body, createdAt } = delivery;
  await tx.statements.run('deliveries.add', { id, channel, event, subject, body, nextAt: null, createdAt });
  const state = outcome === 'sent' ? 'sent' : 'failed';
  const sentAt = state === 'sent' ? at : null;
  const attempts = ((await findDelivery(tx, id))?.attempts ?? 0) + 1;
  const ended = { id, state, attempts, nextAt: null, status, answer, sentAt } as const;
  await tx.statements.run('deliveries.end_attempt', { ...ended, endedAt: at });
  if (outcome === 'gone') await disableChannel(tx, channel, 'gone', { by, at });
  return { ...ended, channel, event, subject, createdAt };
}

async function findDelivery(
  catalog: Catalog,
  id: string,
): Promise<(Delivery & { claim: string | null; body: string }) | undefined> {
  return catalog.statements.get('deliveries.one', { id });
}

/** The newest deliveries of a channel, or of all, newest first. */
export async function listDeliveries(catalog: Catalog, channel: string | null, limit: number): Promise<Delivery[]> {
  const channels = channel === null ? (await listChannels(catalog, null)).map(({ id }) => id) : [channel];
  const newest: Delivery[] = [];
  for (const id of channels)
    newest.push(...(await catalog.statements.all<Delivery>('deliveries.of_channel', { channel: id, limit })));
  return newest.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/**
 * Makes due what waits for longer than its pause: the clock was ahead when it was planned.
 * @param pauses the longest one after so many attempts
 */
export async function hastenDeliveries(
  catalog: Catalog,
  now: Microseconds,
  pauses: (attempts: number) => Microseconds,
): Promise<void> {
  const waiting = await catalog.statements.all<{ attempts: number; latest: Microseconds }>('deliveries.waiting', {
    now,
  });
  const late = waiting.filter(({ attempts, latest }) => latest > now + pauses(attempts));
  if (late.length === 0) return;
  await catalog.transaction(async (tx) => {
    for (const { attempts } of late) {
      await tx.statements.run('deliveries.hasten', { now, attempts, latest: now + pauses(attempts) });
    }
  });
}

/** Forgets what ended 30 days ago, not too many at a time: others wait for the transaction. */
export async function forgetDeliveries(catalog: Catalog, now: Microseconds): Promise<void> {
  const before = now - KEPT;
  if ((await catalog.statements.get('deliveries.ended', { before })) === undefined) return;
  await catalog.transaction(
    async (tx) => void (await tx.statements.run('deliveries.forget', { before, limit: FORGOTTEN })),
  );
}

/** What a delivery is about, as a webhook gets it. `data` also has the workspace, the project and a link. */
export interface DeliveryBody {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly workspace: { readonly id: string; readonly name: string };
    readonly project?: { readonly id: string; readonly domain: string } | null;
    readonly alert?: ShownAlert;
    readonly sync?: SyncNews;
    readonly channel?: { readonly id: string; readonly name: string };
    readonly period?: DigestPeriod;
    readonly range?: Range;
    readonly comparison?: Range;
    readonly projects?: readonly DigestProject[];
    /** A path until the first attempt; null without an address of the server. */
    readonly link: string | null;
  };
}

/** A project in a digest. */
export interface DigestProject {
  readonly project: { readonly id: string; readonly domain: string };
  readonly totals: Metrics;
  readonly comparison: Metrics | null;
  readonly change: Compared['change'] | null;
  /** Why ratios of changes would mislead; null without a comparison, undefined in those of earlier versions. */
  readonly unsafe?: Compared['unsafe'] | null;
  /** What has moved most; `by` is null where that is not known. */
  readonly movers: { readonly by: 'page' | null; readonly up: readonly Mover[]; readonly down: readonly Mover[] };
  /** The open ones. */
  readonly alerts: readonly ShownAlert[];
  /** Verdicts on noted changes that became final since the digest before; undefined in those of earlier versions. */
  readonly verdicts?: readonly DigestVerdict[];
  readonly provisional: readonly Day[];
  /** Clicks of each day, for the picture of a mail. */
  readonly daily?: readonly (readonly [Day, number])[];
}

/** A page whose clicks have changed. */
export interface Mover {
  readonly page: string;
  readonly clicks: { readonly now: number; readonly base: number; readonly difference: number };
}

/** What became of a noted change. */
export interface DigestVerdict {
  readonly note: Pick<Note, 'id' | 'date' | 'text' | 'page' | 'keyword' | 'group'>;
  readonly verdict: string;
  readonly reasons: readonly string[];
  /** The verdict in a sentence. */
  readonly text: string;
  /** A path until it is sent. */
  readonly link: string;
}

/** An alert as `/alerts` shows it; its link is a path until it is sent. */
export type ShownAlert = Omit<Alert, 'createdAt' | 'resolvedAt'> & {
  readonly createdAt: string;
  readonly resolvedAt: string | null;
};

/** How the sync of a project stands. */
export interface SyncNews {
  readonly status: string;
  readonly reason: SyncReason | null;
  readonly since: string;
  /** The kind of the connection that the reason is about, if that is not Search Console. */
  readonly provider?: string;
}

/** Why a sync failed. */
export type SyncReason = 'access_lost' | 'credentials' | 'quota' | 'unavailable' | 'other';

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

/** How serious alerts are, from the least on. */
export const SEVERITIES: readonly Alert['severity'][] = WORDS.severity;

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
function deliveryId(channel: string, about: readonly (string | number)[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([channel, ...about]))
    .digest('hex');
  // UUID version 8: custom.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** What channels hear, by the period that a digest is about. */
export const DIGEST_EVENTS = { week: 'digest.weekly', month: 'digest.monthly' } as const;

/** A digest of a channel: one for each period. */
export interface DigestOf {
  readonly channel: string;
  readonly event: (typeof DIGEST_EVENTS)[DigestPeriod];
  /** The first and the last day. */
  readonly subject: string;
}

/** Whether a digest was written. */
export async function hasDigest(catalog: Catalog, digest: DigestOf): Promise<boolean> {
  return (await catalog.statements.get('deliveries.one', { id: idOf(digest) })) !== undefined;
}

/** The ids of notes whose verdicts earlier digests of a channel have listed. */
export async function listedVerdicts(
  catalog: Catalog,
  { channel, event }: Pick<DigestOf, 'channel' | 'event'>,
): Promise<ReadonlySet<string>> {
  const rows = await catalog.statements.all<{ note: string }>('deliveries.verdicts', { channel, event });
  return new Set(rows.map(({ note }) => note));
}

/** Writes a digest, once; not for a channel that was disabled or removed meanwhile. Returns whether it did. */
export async function announceDigest(
  catalog: Catalog,
  digest: DigestOf,
  body: DeliveryBody,
  at: Microseconds,
): Promise<boolean> {
  const { channel, event, subject } = digest;
  return catalog.transaction(async (tx) => {
    const { state = 'disabled', events = [] } = (await findChannel(tx, channel)) ?? {};
    if (state !== 'on' || !events.includes(event)) return false;
    const values = { id: idOf(digest), channel, event, subject, body: JSON.stringify(body) };
    if ((await tx.statements.run('deliveries.add', { ...values, nextAt: 0, createdAt: at })) === 0) return false;
    for (const { note } of (body.data.projects ?? []).flatMap(({ verdicts = [] }) => verdicts)) {
      await tx.statements.run('deliveries.add_verdict', { channel, event, note: note.id });
    }
    return true;
  });
}

const idOf = ({ channel, event, subject }: DigestOf): string => deliveryId(channel, [event, subject]);
