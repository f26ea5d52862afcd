import type { Microseconds } from '../domain/instants.ts';
import type { Usage } from './usage.ts';

/** The source of a load: a snapshot folder, an import, or the sync. */
export type LoadKind = (typeof LOAD_KINDS)[number];

export const LOAD_KINDS = ['snapshot', 'import', 'sync'] as const;

/** Counts of loads of a kind, all processes. */
export interface LoadCounts {
  readonly kind: LoadKind;
  /** Numbers of loads. */
  readonly published: number;
  readonly rejected: number;
  readonly failed: number;
  /** Sums over published loads. */
  readonly rows: number;
  readonly seconds: number;
  /** The last published load; null if there was none. */
  readonly lastAt: Microseconds | null;
  readonly lastRows: number | null;
  readonly lastSeconds: number | null;
}

export function readLoadCounts(usage: Usage): Promise<LoadCounts[]> {
  return usage.all<LoadCounts>('loads_all');
}

export async function countPublishedLoad(
  usage: Usage,
  load: { readonly kind: LoadKind; readonly at: Microseconds; readonly rows: number; readonly seconds: number },
): Promise<void> {
  await usage.run('load_published', { ...load });
}

export async function countOtherLoad(usage: Usage, kind: LoadKind, how: 'rejected' | 'failed'): Promise<void> {
  await usage.run('load_not_published', {
    kind,
    rejected: Number(how === 'rejected'),
    failed: Number(how === 'failed'),
  });
}
