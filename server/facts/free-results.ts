import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A result of fewer rows can wait. */
const MANY_ROWS = 20_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;
setFlagsFromString('--no-expose-gc');

/**
 * Frees what DuckDB holds of results that have been read. It is freed with the objects that stand for its chunks, which
 * V8 takes for some bytes each and collects late: without this, an answer of 500,000 days takes 40 MB more. Collecting
 * what is new takes about a millisecond.
 */
export function freeResults(rows: number): void {
  if (rows >= MANY_ROWS) collectGarbage({ type: 'minor' });
}
