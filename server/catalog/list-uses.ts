import type { Microseconds } from '../domain/instants.ts';
import type { Usage } from './usage.ts';

/** Number of reads of a list, and the last one. */
export interface ListUse {
  readonly hits: number;
  readonly usedAt: Microseconds;
}

/** The uses of all lists, by file. */
export async function readListUses(usage: Usage): Promise<Map<string, ListUse>> {
  const rows = await usage.all<ListUse & { file: string }>('list_uses_all');
  return new Map(rows.map(({ file, ...use }) => [file, use]));
}

/** Adds `hits` reads of a list. */
export async function noteListUse(usage: Usage, file: string, hits: number, at: Microseconds): Promise<void> {
  await usage.run('list_used', { file, hits, at });
}

/** The file of the least recently used list except `keep`; undefined if uses are unknown. */
export async function findLeastUsedList(usage: Usage, keep: string): Promise<string | undefined> {
  const row = await usage.get<{ file: string }>('list_least_used', { keep });
  return row?.file;
}

/** Deletes the uses of a list; false if the write failed. */
export function forgetListUse(usage: Usage, file: string): Promise<boolean> {
  return usage.run('list_use_delete', { file });
}
