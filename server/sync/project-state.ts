import type { Catalog } from '../catalog/catalog.ts';
import type { SyncReason } from '../catalog/deliveries.ts';
import type { Project } from '../catalog/projects.ts';
import {
  announceSyncStatus,
  putSyncProject,
  putSyncState,
  raiseEntityRevisions,
  readSyncProject,
  type SyncState,
} from '../catalog/sync-projects.ts';
import { pauseAfter } from '../domain/back-off.ts';
import { eachDay, later } from '../domain/dates.ts';
import { classifyFailure } from '../domain/failures.ts';
import { HOUR } from '../domain/hours.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { ProviderFailure } from '../providers/failures.ts';
import type { DaysByTable } from './day-states.ts';
import type { PlanInput } from './plan.ts';
import { findConnected } from './prepare.ts';

/** The state of a project after its newest days are published. */
export function newestState(
  { provisionalAfter }: Pick<PlanInput, 'provisionalAfter'>,
  days: DaysByTable,
  { project, now }: { readonly project: Project; readonly now: number },
): Partial<SyncState> {
  const withRows = [...(days.get('site_daily')?.values() ?? [])].filter(({ rows }) => rows > 0);
  return {
    lastSyncedAt: toMicroseconds(now),
    provisionalAfter,
    syncedThrough: withRows.length === 0 ? project.syncedThrough : withRows.map(({ day }) => day).reduce(later),
  };
}

/** Whether days to sync were never published. */
export function isPending({ tables, syncRange }: PlanInput, days: DaysByTable): boolean {
  const all = eachDay(syncRange.from, syncRange.to);
  return tables.some((table) => !all.every((day) => days.get(table)?.has(day)));
}

interface Failure {
  readonly outcome: RunOutcome;
  readonly reason: string | null;
  /** Milliseconds. */
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
  readonly hours: number;
}

/** Stores a failed run: status, reason and next run. Published data does not change. */
export async function storeFailure(catalog: Catalog, id: string, failure: Failure): Promise<void> {
  const { outcome, reason } = failure;
  await catalog.transaction(async (tx) => {
    if ((await findConnected(tx, id)) === undefined) return;
    const stored = await readSyncProject(tx, id);
    const failures = stored.failures + 1;
    const next = toMicroseconds(nextRunAt({ ...failure, failures }));
    await putSyncProject(tx, id, { ...stored, failures, lastError: reason, nextRunAt: next });
    const isChanged = await putSyncState(tx, id, { syncStatus: statusOf(outcome) });
    await announceSyncStatus(tx, id, { reason: reasonOf(outcome), at: toMicroseconds(failure.now) });
    await raiseEntityRevisions(tx, isChanged ? [id] : []);
  });
}

/**
 * How a run ended: all due days are published (`done`), some of them, with the rest due immediately (`part`), or why not.
 */
export type RunOutcome =
  | 'done'
  | 'part'
  | 'quota'
  | 'access-lost'
  | 'misconfigured'
  | 'unavailable'
  | 'table-failed'
  | 'disk-full'
  | 'failed'
  | 'stopped';

const BY_KIND = {
  'load-quota': 'quota',
  'rate-limit': 'quota',
  'access-lost': 'access-lost',
  misconfigured: 'misconfigured',
  broken: 'unavailable',
  'not-covered': 'unavailable',
} as const;

/** Classifies an error of a run and explains it to the operator. */
export function outcomeOf(error: unknown): { outcome: RunOutcome; reason: string } {
  if (error instanceof ProviderFailure) {
    const outcome = BY_KIND[error.kind];
    return { outcome, reason: `${SENTENCES[outcome]} (${error.message})` };
  }
  const message = error instanceof Error ? error.message : String(error);
  const resource = classifyFailure(error);
  if (resource === 'disk-full') return { outcome: 'disk-full', reason: `${SENTENCES[resource]} (${innermost(error)})` };
  return { outcome: 'failed', reason: resource === undefined ? message : `${resource}: ${message}` };
}

/** The innermost message, without the advice that loads add. */
function innermost(error: unknown): string {
  return error instanceof Error && error.cause !== undefined
    ? innermost(error.cause)
    : String((error as Error).message);
}

const SENTENCES = {
  quota: 'The quota of the provider for this property is exhausted for now.',
  'access-lost': 'The provider no longer grants access to the property; run connections test for details.',
  misconfigured: 'The credentials or the API cannot be used; run connections test for details.',
  unavailable: 'The provider returned errors or invalid responses.',
  'disk-full': 'The disk of the data folder is full; free some space, and the sync continues by itself.',
} as const;

/** The sync status of a project after a run. */
export function statusOf(outcome: RunOutcome): 'ok' | 'warning' | 'failed' {
  if (outcome === 'done' || outcome === 'part') return 'ok';
  return outcome === 'access-lost' || outcome === 'misconfigured' ? 'failed' : 'warning';
}

const REASONS: Readonly<Partial<Record<RunOutcome, SyncReason>>> = {
  'access-lost': 'access_lost',
  misconfigured: 'credentials',
  quota: 'quota',
  unavailable: 'unavailable',
};

/** Why a run failed, as channels say it. */
function reasonOf(outcome: RunOutcome): SyncReason {
  return REASONS[outcome] ?? 'other';
}

const FIRST_PAUSE = 900_000;
/** Random variation of the interval. */
const JITTER = 0.1;

interface NextRun {
  readonly outcome: RunOutcome;
  /** Consecutive failed runs, including this one. */
  readonly failures: number;
  /** Milliseconds. */
  readonly now: number;
  readonly hours: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** When a project is due again, in milliseconds. Failed runs are retried sooner, with exponential back-off. */
export function nextRunAt({ outcome, failures, now, hours, random }: NextRun): number {
  const interval = hours * HOUR;
  if (outcome === 'part' || outcome === 'stopped') return now;
  const pause =
    statusOf(outcome) === 'warning' ? pauseAfter(failures, { first: FIRST_PAUSE, max: interval }) : interval;
  return now + Math.round(pause * (1 + JITTER * (2 * random - 1)));
}
