import { classifyFailure } from '../domain/failures.ts';
import { ProviderFailure } from '../providers/failures.ts';

/**
 * How a run ended: all that was due is in (`done`), some of it, with the rest to follow at once (`part`), or why not.
 */
export type RunOutcome =
  | 'done'
  | 'part'
  | 'quota'
  | 'access-lost'
  | 'misconfigured'
  | 'unavailable'
  | 'table-failed'
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

/** What an error of a run means, in a word and in words for the operator. */
export function describeFailure(error: unknown): { outcome: RunOutcome; reason: string } {
  if (error instanceof ProviderFailure) {
    const outcome = BY_KIND[error.kind];
    return { outcome, reason: `${SENTENCES[outcome]} (${error.message})` };
  }
  const message = error instanceof Error ? error.message : String(error);
  const resource = classifyFailure(error);
  return { outcome: 'failed', reason: resource === undefined ? message : `${resource}: ${message}` };
}

const SENTENCES = {
  quota: 'The provider allows no more reading of this property for the moment.',
  'access-lost': 'The provider no longer grants access to the property; connections test tells what is missing.',
  misconfigured: 'The credentials or the API cannot be used; connections test tells what is missing.',
  unavailable: 'The provider does not answer as it should.',
} as const;

/** How a project whose run ended so is shown. */
export function statusOf(outcome: RunOutcome): 'ok' | 'warning' | 'failed' {
  if (outcome === 'done' || outcome === 'part') return 'ok';
  return outcome === 'access-lost' || outcome === 'misconfigured' ? 'failed' : 'warning';
}

const HOUR = 3_600_000;
const FIRST_PAUSE = 900_000;
/** By so much of the interval runs are spread. */
const JITTER = 0.1;

interface NextRun {
  readonly outcome: RunOutcome;
  /** Runs in a row that failed, this one included. */
  readonly failures: number;
  /** Milliseconds. */
  readonly now: number;
  readonly hours: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** When a project is due again, in milliseconds: what failed is tried again sooner, after growing pauses. */
export function nextRunAt({ outcome, failures, now, hours, random }: NextRun): number {
  const interval = hours * HOUR;
  if (outcome === 'part' || outcome === 'stopped') return now;
  const pause =
    statusOf(outcome) === 'warning' ? Math.min(interval, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10)) : interval;
  return now + Math.round(pause * (1 + JITTER * (2 * random - 1)));
}
