import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// The one place that changes V8's flags while it runs. This flag only makes `gc` visible to a new context.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' | 'major'; flavor?: 'last-resort' }) => void;
setFlagsFromString('--no-expose-gc');

/** A minor collection is forced after this much external memory. It takes about a millisecond. */
const COLLECT_AFTER_BYTES = 8_000_000;

let bytes = 0;

/**
 * Reports memory outside of V8's heap that is or soon will be garbage: results of DuckDB, bytes of responses. V8 counts
 * only the small objects that own it, so it collects them late, in a full collection. Without this a response of 500,000
 * days needs 40 MB more, and one of 5,000 keywords takes a fifth longer.
 */
export function reportExternalBytes(more: number): void {
  bytes += more;
  if (bytes < COLLECT_AFTER_BYTES) return;
  bytes = 0;
  collectGarbage({ type: 'minor' });
}

/** Collects everything and returns the memory of young objects to the system. Blocks the process for 150 ms or so. */
export function returnMemory(): void {
  collectGarbage({ type: 'major', flavor: 'last-resort' });
}
