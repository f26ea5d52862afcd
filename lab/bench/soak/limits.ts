import type { Trend } from './watch.ts';

/** Megabytes a minute that the server's memory may grow by. */
const MAX_SLOPE = 1;
/** A trend over less time says nothing about a leak. */
const MIN_MINUTES = 5;
/** Descriptors by which the last quarter may differ from the first after the warm-up: connections come and go. */
const MAX_DESCRIPTORS = 10;

/** What a soak found. */
export interface Found {
  readonly minutes: number;
  readonly right: number;
  readonly unexpected: number;
  /** Kinds of requests and works that were never as they must be. */
  readonly never: readonly string[];
  readonly memory: Trend;
  readonly descriptors: Trend;
  readonly leftovers: readonly string[];
  /** Lines of the server's log at the levels error and fatal. */
  readonly errors: readonly string[];
  readonly verified: boolean;
  readonly backupsVerified: boolean;
}

export interface Limit {
  readonly what: string;
  readonly found: string;
  readonly limit: string;
  /** Null: the soak was too short to say. */
  readonly met: boolean | null;
}

/** Compares what was found with the limits. */
export function limitsOf(found: Found): Limit[] {
  const { minutes, right, unexpected, never, memory, descriptors, leftovers, errors } = found;
  const long = minutes >= MIN_MINUTES;
  const moved = descriptors.last - descriptors.first;
  return [
    {
      what: 'unexpected answers and failed works',
      found: `${unexpected} of ${right + unexpected}`,
      limit: '0',
      met: unexpected === 0,
    },
    { what: 'kinds without a right answer', found: never.join(', ') || 'none', limit: 'none', met: never.length === 0 },
    { what: 'errors in the log of the server', found: String(errors.length), limit: '0', met: errors.length === 0 },
    {
      what: 'memory of the server after the warm-up',
      found: `${memory.slope.toFixed(2)} MB a minute; ${memory.first.toFixed(0)} to ${memory.last.toFixed(0)} MB, at most ${memory.peak.toFixed(0)}`,
      limit: `below ${MAX_SLOPE} MB a minute`,
      met: long ? memory.slope < MAX_SLOPE : null,
    },
    {
      what: 'descriptors of the server after the warm-up',
      found: `${descriptors.first} to ${descriptors.last}, at most ${descriptors.peak}`,
      limit: `at most ${MAX_DESCRIPTORS} more`,
      met: long ? moved <= MAX_DESCRIPTORS : null,
    },
    {
      what: 'files left',
      found: leftovers.slice(0, 5).join(', ') || 'none',
      limit: 'none',
      met: leftovers.length === 0,
    },
    {
      what: 'verify of the data folder',
      found: found.verified ? 'in order' : 'not in order',
      limit: 'in order',
      met: found.verified,
    },
    {
      what: 'verify of the backups',
      found: found.backupsVerified ? 'in order' : 'not in order',
      limit: 'in order',
      met: found.backupsVerified,
    },
  ];
}
