import { createHash } from 'node:crypto';
import {
  findEvaluation,
  listEvaluatedAlerts,
  putEvaluatedAlert,
  putEvaluation,
  removeEvaluatedAlert,
  type StoredAlert,
  type StoredEvaluation,
} from '../catalog/alerts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { announceAlert } from '../catalog/deliveries.ts';
import { findAnyProject } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';

export type KeywordAlertType = 'keyword_drop' | 'keyword_lost' | 'url_changed' | 'url_mismatch';
export type IndexAlertType = 'page_dropped_from_index' | 'canonical_changed';
export type AlertType = 'traffic_drop' | 'hourly_stop' | 'surface_stale' | IndexAlertType | KeywordAlertType | 'rule';

/** Display names of alert types. */
export const ALERT_KINDS: Readonly<Record<AlertType, string>> = {
  traffic_drop: 'Traffic drop',
  hourly_stop: 'Clicks stopped',
  surface_stale: 'No new days',
  page_dropped_from_index: 'Page dropped from index',
  canonical_changed: 'Canonical changed',
  keyword_drop: 'Keyword drop',
  keyword_lost: 'Keyword lost',
  url_changed: 'Page changed',
  url_mismatch: 'Unexpected page',
  rule: 'Alert rule',
};

export type Severity = 'info' | 'warning' | 'critical';

/** An alert produced by an evaluation. */
export interface EvaluatedAlert {
  readonly type: AlertType;
  /** The keyword, page, rule or site it concerns. At most one alert per type and subject is open. */
  readonly subject: string;
  /**
   * The user setting at opening (a rule, a target page). When it changes, the alert is no longer evaluated. The hour of an
   * alert about hours, the instant of one about the index.
   */
  readonly basis: string;
  severity: Severity;
  readonly title: string;
  body: string;
  /** The evaluated day on which it opened. */
  readonly date: Day;
  readonly keywordId: string | null;
  /** The evaluated day on which it resolved. */
  resolvedOn: Day | null;
}

/** The subject of alerts about the whole site. */
export const SITE_SUBJECT = 'site';

/** How many evaluations open and resolve an alert of a check. */
export interface Lifecycle {
  /** Consecutive evaluations on which the condition must hold. */
  readonly opensAfter: number;
  /** Consecutive evaluations on which values must be back to normal. */
  readonly resolvesAfter: number;
  /** Days, or hours of a check by hour, after which an alert expires; null for never. */
  readonly expiresAfter: number | null;
}

/** The state of a check's subject between two evaluations; plain data. */
export interface SubjectState<Baseline> {
  /** Consecutive evaluations on which the condition held. */
  running: number;
  open: OpenState<Baseline> | null;
}

export interface OpenState<Baseline> {
  /** The day on which it opened, as a day number, or the hour. */
  readonly since: number;
  /** Usual values at opening. */
  readonly baseline: Baseline;
  /** Consecutive evaluations on which values were back to normal. */
  back: number;
}

export function newState<Baseline>(): SubjectState<Baseline> {
  return { running: 0, open: null };
}

/** Counts an evaluation without an open alert. Returns whether to open one. */
export function countTowardsOpening(
  { opensAfter }: Pick<Lifecycle, 'opensAfter'>,
  state: SubjectState<unknown>,
  holds: boolean,
): boolean {
  state.running = holds ? state.running + 1 : 0;
  return state.running >= opensAfter;
}

export function open<Baseline>(state: SubjectState<Baseline>, since: number, baseline: Baseline): void {
  state.open = { since, baseline, back: 0 };
  state.running = 0;
}

/**
 * Counts an evaluation with an open alert. Returns why it resolves, or undefined.
 * @param isBack undefined if the check could not be evaluated
 */
export function countTowardsEnd(
  { resolvesAfter, expiresAfter }: Lifecycle,
  state: OpenState<unknown>,
  day: number,
  isBack: boolean | undefined,
): 'back' | 'expired' | undefined {
  state.back = isBack === true ? state.back + 1 : 0;
  if (state.back >= resolvesAfter) return 'back';
  return expiresAfter !== null && day - state.since >= expiresAfter ? 'expired' : undefined;
}

/** The result of a replay of a project. */
export interface Replayed {
  readonly alerts: readonly EvaluatedAlert[];
  /** The last evaluated day. */
  readonly through: Day;
  /** Whether a stored alert lies in the replayed days, so that it is obsolete if not found again. */
  readonly covers: (alert: StoredAlert) => boolean;
  /** Why an alert is no longer evaluated; undefined if it still is. */
  readonly endedBecause: (alert: StoredAlert) => string | undefined;
}

export interface AlertChanges {
  readonly opened: readonly StoredAlert[];
  /** Stored alerts that have changed; most have resolved. */
  readonly changed: readonly StoredAlert[];
  /** Stored alerts that current facts no longer produce. */
  readonly removed: readonly StoredAlert[];
}

/**
 * The changes that bring the stored alerts of a project in line with a replay.
 * @param clock the creation and resolution time for alerts of a day
 */
export function alertChanges(
  project: string,
  stored: readonly StoredAlert[],
  replayed: Replayed,
  clock: (day: Day) => Microseconds,
): AlertChanges {
  const byId = new Map(stored.map((alert) => [alert.id, alert]));
  const opened: StoredAlert[] = [];
  const changed: StoredAlert[] = [];
  const removed: StoredAlert[] = [];
  const inOrder = replayed.alerts.toSorted((a, b) => compare(a.date, b.date) || compare(a.type, b.type));
  for (const alert of inOrder) {
    const id = alertId(project, alert);
    const known = byId.get(id);
    byId.delete(id);
    // Distinct times keep alerts of one evaluation in order.
    const createdAt = known?.createdAt ?? clock(alert.date) + opened.length;
    const resolvedAt =
      alert.resolvedOn === null ? null : (known?.resolvedAt ?? clock(alert.resolvedOn) + opened.length);
    const { severity, title, body } = alert;
    const next = { ...rowOf(id, alert), severity, title, body, createdAt, resolvedAt };
    if (known === undefined) opened.push(next);
    else if (JSON.stringify({ ...known, ...next }) !== JSON.stringify(known)) changed.push(next);
  }
  for (const alert of byId.values()) {
    const reason = replayed.endedBecause(alert);
    if (reason === undefined && (alert.date > replayed.through || replayed.covers(alert))) removed.push(alert);
    else if (reason !== undefined && alert.resolvedAt === null) {
      changed.push({ ...alert, body: `${alert.body} Resolved: ${reason}.`, resolvedAt: clock(replayed.through) });
    }
  }
  return { opened, changed, removed };
}

/** Stores the changes and the evaluation; undefined if newer facts have been evaluated in the meantime. */
export function storeEvaluation(
  catalog: Catalog,
  project: string,
  evaluation: StoredEvaluation,
  changesOf: (stored: readonly StoredAlert[]) => AlertChanges,
  at: Microseconds,
): Promise<AlertChanges | undefined> {
  return catalog.transaction(async (tx) => {
    const known = await findEvaluation(tx, project);
    if (known !== undefined && known.factsRevision > evaluation.factsRevision) return undefined;
    const stored = await listEvaluatedAlerts(tx, project);
    const changes = changesOf(stored);
    for (const { id } of changes.removed) await removeEvaluatedAlert(tx, id);
    // At most one alert per subject may be open, so resolved alerts are written first.
    const isOpen = ({ resolvedAt }: StoredAlert): number => (resolvedAt === null ? 1 : 0);
    const written = [...changes.changed, ...changes.opened].sort((a, b) => isOpen(a) - isOpen(b));
    for (const alert of written) await putEvaluatedAlert(tx, project, alert);
    await putEvaluation(tx, project, evaluation, at);
    await announce(tx, project, changes, new Set(stored.filter((alert) => isOpen(alert) === 1).map(({ id }) => id)));
    return changes;
  });
}

/** Tells channels of alerts that have opened or resolved. @param open the ids of those that were open before */
async function announce(
  tx: Catalog,
  id: string,
  { opened, changed }: AlertChanges,
  open: ReadonlySet<string>,
): Promise<void> {
  const resolved = [...opened, ...changed.filter((alert) => open.has(alert.id))].filter(
    ({ resolvedAt }) => resolvedAt !== null,
  );
  if (opened.length + resolved.length === 0) return;
  const project = (await findAnyProject(tx, id))!;
  for (const alert of opened) await announceAlert(tx, 'alert.opened', project, alert);
  for (const alert of resolved) await announceAlert(tx, 'alert.resolved', project, alert);
}

function rowOf(id: string, { type, subject, basis, date, keywordId }: EvaluatedAlert) {
  return { id, type, subject, basis, kind: ALERT_KINDS[type], date, keywordId, url: null };
}

/** A deterministic id, so that repeated evaluations find the same alert. */
function alertId(project: string, { type, subject, basis, date }: EvaluatedAlert): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([project, type, subject, basis, date]))
    .digest('hex');
  // UUID version 8: custom.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
