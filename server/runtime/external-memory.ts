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

/** Max bytes that are kept. */
const MAX_KEPT = 20_000_000;
/** Memory of more than so many times the bytes is left for larger answers: a slow client holds what it was lent. */
const MAX_SHARE = 4;

/** By size. */
const kept: ArrayBuffer[] = [];

/**
 * At least so many bytes, with any content: those that were kept, if they are enough. V8 collects everything when some
 * megabytes of new memory have outlived two minor collections.
 */
export function takeMemory(bytes: number): ArrayBuffer {
  const at = kept.findIndex(({ byteLength }) => byteLength >= bytes && byteLength <= bytes * MAX_SHARE);
  return at === -1 ? new ArrayBuffer(bytes) : kept.splice(at, 1)[0]!;
}

/** Keeps memory for the next use. Nothing may use it any more. */
export function keepMemory(memory: ArrayBuffer): void {
  kept.push(memory);
  kept.sort((a, b) => a.byteLength - b.byteLength);
  while (kept.reduce((sum, { byteLength }) => sum + byteLength, 0) > MAX_KEPT) kept.shift();
}

/** Collects everything and returns the memory of young objects to the system. Blocks the process for 150 ms or so. */
export function returnMemory(): void {
  kept.length = 0;
  collectGarbage({ type: 'major', flavor: 'last-resort' });
}
