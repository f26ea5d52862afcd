import { LRUCache } from 'lru-cache';
import type { StoredList } from '../catalog/stored-lists.ts';
import type { UsageDatabase } from '../catalog/usage.ts';
import { type Microseconds, toMicroseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';

/** A stored list with the range that it is of. */
export interface SequenceList {
  readonly list: StoredList;
  readonly range: Range;
}

/** Where a reader stands in a list. */
interface Place {
  readonly reader: string;
  /** What is asked for, page by page. */
  readonly sequence: string;
  readonly offset: number;
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
  find({ reader, sequence, offset }: Place): SequenceList | undefined {
    const since = toMicroseconds(this.#now()) - VALID;
    const row = this.#usage.get<{ list: string }>('page_sequence_get', { reader, sequence, offset, since });
    if (row !== undefined) return JSON.parse(row.list) as SequenceList;
    const written = this.#written.get(keyOf({ reader, sequence, offset }));
    return written !== undefined && written.at >= since ? written.next : undefined;
  }

  /** The page at `offset` comes from this list, if it is the reader's next one. */
  remember({ reader, sequence, offset }: Place, next: SequenceList): void {
    const key = keyOf({ reader, sequence, offset });
    const at = toMicroseconds(this.#now());
    const before = this.#written.get(key);
    if (before?.next.list.file === next.list.file && at - before.at < RENEWED_AFTER) return;
    this.#written.set(key, { next, at });
    const { file } = next.list;
    const list = JSON.stringify(next);
    this.#usage.run('page_sequence_put', { reader, sequence, nextOffset: offset, file, list, at });
  }

  /** Whether a sequence may still read a file. */
  reads(file: string): boolean {
    const since = toMicroseconds(this.#now()) - VALID;
    return this.#usage.get('page_sequence_of_file', { file, since }) !== undefined;
  }

  /** Forgets sequences that have ended. */
  sweep(): void {
    this.#usage.run('page_sequences_forget', { before: toMicroseconds(this.#now()) - VALID });
  }
}

function keyOf({ reader, sequence, offset }: Place): string {
  return JSON.stringify([reader, sequence, offset]);
}
