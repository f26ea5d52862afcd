import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';
import type { UsageDatabase } from './usage.ts';

export type ListKind = 'pages' | 'queries';

/** Where a list came from, as the API reports it. */
export type SourceKind = 'gsc' | 'bigquery';

/** What a list is stored by. */
export interface ListKey {
  readonly project: string;
  readonly kind: ListKind;
  readonly from: Day;
  readonly to: Day;
  /** '' for all countries. */
  readonly country: string;
  /** What it was made from: `property PROPERTY` of a provider, or `facts REVISION` of the project's own facts. */
  readonly sourceKey: string;
}

/** A list of ranked rows, stored as a Parquet file. */
export interface StoredList {
  /** Relative to the data folder; '' for a list that has no file. */
  readonly file: string;
  readonly source: SourceKind;
  readonly rows: number;
  /** There were more rows than the list holds. */
  readonly truncated: boolean;
  /** The list is as long as its source may make it. */
  readonly capped: boolean;
  /** None of its days can change any more. */
  readonly final: boolean;
  readonly bytes: number;
  /** Content hash of the file; '' where an older version stored none. */
  readonly sha256: string;
  readonly fetchedAt: Microseconds;
}

/** How much is stored in all. */
export interface ListLimits {
  readonly lists: number;
  readonly bytes: number;
}

type Flag = 'truncated' | 'capped' | 'final';
type Row<List> = Omit<List, Flag> & Record<Flag, number>;

function readFlags(row: Record<Flag, number>): Record<Flag, boolean> {
  return { truncated: row.truncated === 1, capped: row.capped === 1, final: row.final === 1 };
}

export function findList(catalog: Catalog, key: ListKey): StoredList | undefined {
  const row = catalog.get<Row<StoredList>>('list_get', { ...key });
  return row && { ...row, ...readFlags(row) };
}

/**
 * Stores a list in place of the one that has its key, and drops what the project's lists were made from before. Run it
 * in a transaction.
 */
export function putList(catalog: Catalog, key: ListKey, list: StoredList): void {
  const before = findList(catalog, key);
  if (before !== undefined) catalog.run('list_delete', { file: before.file });
  catalog.run('lists_delete_of_other_sources', { project: key.project, sourceKey: key.sourceKey });
  const { fetchedAt: at, truncated, capped, final, ...rest } = list;
  const flags = { truncated: Number(truncated), capped: Number(capped), final: Number(final) };
  catalog.run('list_put', { ...key, ...rest, ...flags, at });
}

/** Whether more is stored than `limits` allow. */
export function exceeds(catalog: Catalog, limits: ListLimits): boolean {
  const { lists, bytes } = catalog.get<ListLimits>('list_totals')!;
  return lists > limits.lists || bytes > limits.bytes;
}

export interface ListStatus extends Omit<StoredList, 'sha256'>, Range {
  readonly project: string;
  readonly kind: ListKind;
  readonly country: string | null;
}

/** Every stored list, or those of one project, the newest first. */
export function listStoredLists(catalog: Catalog, project: string | null): ListStatus[] {
  const rows = catalog.all<Row<ListStatus>>('lists_all', { project });
  return rows.map((row) => ({ ...row, ...readFlags(row) }));
}

/** A list that a provider gave, as far as it takes to ask for it again. */
export interface ProviderList extends Range {
  readonly file: string;
  readonly project: string;
  readonly kind: ListKind;
  readonly country: string | null;
  /** As `ListKey` has it. */
  readonly sourceKey: string;
}

/** Lists of providers that may change and were fetched after an instant and not after another. */
export function listProviderLists(
  catalog: Catalog,
  fetched: { after: Microseconds; until: Microseconds },
): ProviderList[] {
  return catalog.all<ProviderList>('lists_of_providers', fetched);
}

/** How often a list was read, and when last. */
export interface ListUse {
  readonly hits: number;
  readonly usedAt: Microseconds;
}

/** The uses of all lists, by file. */
export function readListUses(usage: UsageDatabase): Map<string, ListUse> {
  const rows = usage.all<ListUse & { file: string }>('list_uses_all');
  return new Map(rows.map(({ file, ...use }) => [file, use]));
}
