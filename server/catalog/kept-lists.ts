import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';
import type { ConnectionKind } from './connections.ts';

export type ListKind = 'pages' | 'queries';

/** Where a list came from, as the API tells it. */
export type SourceKind = 'gsc' | 'bigquery';

/** What a list is kept by. */
export interface ListKey {
  readonly project: string;
  readonly kind: ListKind;
  readonly from: Day;
  readonly to: Day;
  /** '' for all countries. */
  readonly country: string;
  /** What it was made from: `property PROPERTY` of a provider, or `facts REVISION` of own facts. */
  readonly basis: string;
}

/** A list that stands ready: a Parquet file of ranked rows. */
export interface KeptList {
  /** Relative to the data folder; '' for an empty list that needs none. */
  readonly file: string;
  readonly source: SourceKind;
  readonly rows: number;
  /** There were more rows than the list holds. */
  readonly truncated: boolean;
  /** The list is as long as its source may make it. */
  readonly capped: boolean;
  /** No day of it can change any more. */
  readonly final: boolean;
  readonly bytes: number;
  readonly fetchedAt: Microseconds;
}

type Flag = 'truncated' | 'capped' | 'final';
type Row<List> = Omit<List, Flag> & Record<Flag, number>;

function readFlags(row: Record<Flag, number>): Record<Flag, boolean> {
  return { truncated: row.truncated === 1, capped: row.capped === 1, final: row.final === 1 };
}

export function findList(catalog: Catalog, key: ListKey): KeptList | undefined {
  const row = catalog.get<Row<KeptList>>('list_get', { ...key });
  return row && { ...row, ...readFlags(row) };
}

/** Puts a list in place of the one that was kept by its key; returns the file of that one. Run it in a transaction. */
export function putList(catalog: Catalog, key: ListKey, list: KeptList): string | undefined {
  const before = findList(catalog, key)?.file;
  if (before !== undefined) catalog.run('list_delete', { file: before });
  const { fetchedAt: at, truncated, capped, final, ...rest } = list;
  const flags = { truncated: Number(truncated), capped: Number(capped), final: Number(final) };
  catalog.run('list_put', { ...key, ...rest, ...flags, at });
  return before;
}

export interface ListStatus extends Omit<KeptList, 'file'> {
  readonly project: string;
  readonly kind: ListKind;
  readonly from: Day;
  readonly to: Day;
  readonly country: string | null;
  readonly hits: number;
  readonly usedAt: Microseconds;
}

/** Every kept list, or those of one project, the most recently used first. */
export function listKeptLists(catalog: Catalog, project: string | null): ListStatus[] {
  const rows = catalog.all<Row<ListStatus>>('lists_all', { project });
  return rows.map((row) => ({ ...row, ...readFlags(row) }));
}

/** Until when a provider's property is left alone; 0 when it is not. */
export function pausedUntil(catalog: Catalog, kind: ConnectionKind, property: string): Microseconds {
  return catalog.get<{ until: number }>('pause_get', { kind, property })?.until ?? 0;
}
