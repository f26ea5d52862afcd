import type { Microseconds } from '../domain/instants.ts';
import type { Usage } from './usage.ts';

/** The position of a reader in a page sequence. */
export interface SequenceKey {
  readonly reader: string;
  /** Identifies the sequence. */
  readonly sequence: string;
  readonly offset: number;
}

/** The stored list for exactly this position, else for the latest one, stored at or after `since`. */
export async function findSequence(usage: Usage, key: SequenceKey, since: Microseconds): Promise<string | undefined> {
  const row = await usage.get<{ list: string }>('page_sequence_get', { ...key, since });
  return row?.list;
}

/** Stores the list from which the page at a position is read. */
export async function putSequence(
  usage: Usage,
  { reader, sequence, offset: nextOffset }: SequenceKey,
  { file, list, at }: { readonly file: string; readonly list: string; readonly at: Microseconds },
): Promise<void> {
  await usage.run('page_sequence_put', { reader, sequence, nextOffset, file, list, at });
}

/** Whether a sequence stored at or after `since` reads a file. */
export async function isReadBySequence(usage: Usage, file: string, since: Microseconds): Promise<boolean> {
  return (await usage.get('page_sequence_of_file', { file, since })) !== undefined;
}

/** Deletes sequences stored before an instant. */
export async function forgetSequences(usage: Usage, before: Microseconds): Promise<void> {
  await usage.run('page_sequences_forget', { before });
}
