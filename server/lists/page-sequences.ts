import { LRUCache } from 'lru-cache';
import {
  findSequence,
  forgetSequences,
  isReadBySequence,
  putSequence,
  type SequencePlace,
} from '../catalog/sequences.ts';
import type { StoredList } from '../catalog/stored-lists.ts';
import type { UsageDatabase } from '../catalog/usage.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';

/** A stored list with the range that it is of. */
export interface SequenceList {
  readonly list: StoredList;
  readonly range: Range;
}

/** How long after a page the next one comes from the same list, in microseconds. */
const VALID = 600_000_000;
/** An entry that says the same is written again after this, in microseconds. */
const RENEWED_AFTER = 60_000_000;

/**
 * Which list the next page of a sequence comes from. Pages of one sequence never mix two lists, although a load or a new
 * fetch has replaced the list meanwhile, and whichever process answers.
 */
export class PageSequences {
  readonly #usage: UsageDatabase;
  readonly #now: () => number;
  /** What was written; also stands in for a database that does not answer. */
  readonly #written = new LRUCache<string, { next: SequenceList; at: Microseconds }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  });

  /** @param now milliseconds */
  constructor(usage: UsageDatabase, now: () => number) {
    this.#usage = usage;
    this.#now = now;
  }

  /** The list of the sequence that goes on at an offset; undefined where there is none. */
  async find(place: SequencePlace): Promise<SequenceList | undefined> {
    const since = toMicroseconds(this.#now()) - VALID;
    const list = await findSequence(this.#usage, place, since);
    if (list !== undefined) return JSON.parse(list) as SequenceList;
    const written = this.#written.get(keyOf(place));
    return written !== undefined && written.at >= since ? written.next : undefined;
  }

  /** The page at `offset` comes from this list, if it is the reader's next one. */
  async remember(place: SequencePlace, next: SequenceList): Promise<void> {
    const key = keyOf(place);
    const at = toMicroseconds(this.#now());
    const before = this.#written.get(key);
    if (before?.next.list.file === next.list.file && at - before.at < RENEWED_AFTER) return;
    this.#written.set(key, { next, at });
    await putSequence(this.#usage, place, { file: next.list.file, list: JSON.stringify(next), at });
  }

  /** Whether a sequence may still read a file. */
  reads(file: string): Promise<boolean> {
    const since = toMicroseconds(this.#now()) - VALID;
    return isReadBySequence(this.#usage, file, since);
  }

  /** Forgets sequences that have ended. */
  sweep(): Promise<void> {
    return forgetSequences(this.#usage, toMicroseconds(this.#now()) - VALID);
  }
}

function keyOf({ reader, sequence, offset }: SequencePlace): string {
  return JSON.stringify([reader, sequence, offset]);
}
