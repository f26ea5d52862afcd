import { Search, type Steps } from '../server/domain/expressions.ts';
import { findHere } from '../server/runtime/search-threads.ts';

/** The result of long work, run at once. */
export function resultOf<T>(work: Steps<T>): T {
  let found: Uint8Array | undefined;
  for (;;) {
    const { done, value } = work.next(found);
    if (done === true) return value;
    found = value instanceof Search ? findHere(value) : undefined;
  }
}
