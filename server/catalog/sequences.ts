import type { Microseconds } from '../domain/instants.ts';
import type { UsageDatabase } from './usage.ts';

/** Where a reader stands in a sequence of pages. */
export interface SequencePlace {
  readonly reader: string;
  /** What is asked for, page by page. */
  readonly sequence: string;
  readonly offset: number;
}

/** What was stored for the sequence that stands exactly there, else for the latest one, noted at or after `since`. */
export async function findSequence(
  usage: UsageDatabase,
  place: SequencePlace,
  since: Microseconds,
): Promise<string | undefined> {
  const row = await usage.get<{ list: string }>('page_sequence_get', { ...place, since });
  return row?.list;
}

/** Stores which list, of a file, the page at a place comes from. */
export async function putSequence(
  usage: UsageDatabase,
  { reader, sequence, offset: nextOffset }: SequencePlace,
  { file, list, at }: { readonly file: string; readonly list: string; readonly at: Microseconds },
): Promise<void> {
  await usage.run('page_sequence_put', { reader, sequence, nextOffset, file, list, at });
}

/** Whether a sequence that was noted at or after `since` reads a file. */
export async function isReadBySequence(usage: UsageDatabase, file: string, since: Microseconds): Promise<boolean> {
  return (await usage.get('page_sequence_of_file', { file, since })) !== undefined;
}

/** Forgets sequences that were noted before an instant. */
export async function forgetSequences(usage: UsageDatabase, before: Microseconds): Promise<void> {
  await usage.run('page_sequences_forget', { before });
}
