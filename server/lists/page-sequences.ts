import { LRUCache } from 'lru-cache';
import {
  findSequence,
  forgetSequences,
  isReadBySequence,
  putSequence,
  type SequenceKey,
  type StoredList,
} from '../catalog/stored-lists.ts';
import type { Usage } from '../catalog/usage.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';

/** A stored list with its range. */
export interface SequenceList {
  readonly list: StoredList;
  readonly range: Range;
}

/** How long after a page the next one is read from the same list, in microseconds. */
const VALID = 600_000_000;
/** An unchanged entry is written again after this time, in microseconds. */
const RENEWED_AFTER = 60_000_000;

/**
 * Stores which list the next page of a sequence is read from, for all processes. A sequence never mixes two lists, even if
 * a load or a new fetch replaces the list.
 */
export class PageSequences {
  readonly #usage: Usage;
  readonly #now: () => number;
  /** Written entries; also used when the database cannot be read. */
  readonly #written = new LRUCache<string, { next: SequenceList; at: Microseconds }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  });

  /** @param now milliseconds */
  constructor(usage: Usage, now: () => number) {
    this.#usage = usage;
    this.#now = now;
  }

  /** The list of the sequence that continues at an offset, if any. */
  async find(key: SequenceKey): Promise<SequenceList | undefined> {
    const since = toMicroseconds(this.#now()) - VALID;
    const list = await findSequence(this.#usage, key, since);
    if (list !== undefined) return JSON.parse(list) as SequenceList;
    const written = this.#written.get(keyOf(key));
    return written !== undefined && written.at >= since ? written.next : undefined;
  }

  /** Stores that the reader's next page, at `offset`, is read from this list. */
  async remember(page: SequenceKey, next: SequenceList): Promise<void> {
    const key = keyOf(page);
    const at = toMicroseconds(this.#now());
    const before = this.#written.get(key);
    if (before?.next.list.file === next.list.file && at - before.at < RENEWED_AFTER) return;
    this.#written.set(key, { next, at });
    await putSequence(this.#usage, page, { file: next.list.file, list: JSON.stringify(next), at });
  }

  /** Whether a sequence may still read a file. */
  reads(file: string): Promise<boolean> {
    const since = toMicroseconds(this.#now()) - VALID;
    return isReadBySequence(this.#usage, file, since);
  }

  /** Removes expired sequences. */
  sweep(): Promise<void> {
    return forgetSequences(this.#usage, toMicroseconds(this.#now()) - VALID);
  }
}

function keyOf({ reader, sequence, offset }: SequenceKey): string {
  return JSON.stringify([reader, sequence, offset]);
}
