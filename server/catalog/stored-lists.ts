import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';

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

export async function findList(catalog: Catalog, key: ListKey): Promise<StoredList | undefined> {
  const row = await catalog.statements.get<Row<StoredList>>('list_get', { ...key });
  return row && { ...row, ...readFlags(row) };
}

/**
 * Stores a list in place of the one that has its key, and drops what the project's lists were made from before. Run it
 * in a transaction.
 */
export async function putList(own: Catalog, key: ListKey, list: StoredList): Promise<void> {
  const before = await findList(own, key);
  if (before !== undefined) await removeList(own, before.file);
  await own.statements.run('lists_delete_of_other_sources', { project: key.project, sourceKey: key.sourceKey });
  const { fetchedAt: at, truncated, capped, final, ...rest } = list;
  const flags = { truncated: Number(truncated), capped: Number(capped), final: Number(final) };
  await own.statements.run('list_put', { ...key, ...rest, ...flags, at });
}

/** Whether more is stored than `limits` allow. */
export async function exceeds(catalog: Catalog, limits: ListLimits): Promise<boolean> {
  const { lists, bytes } = (await catalog.statements.get<ListLimits>('list_totals'))!;
  return lists > limits.lists || bytes > limits.bytes;
}

export interface ListStatus extends Omit<StoredList, 'sha256'>, Range {
  readonly project: string;
  readonly kind: ListKind;
  readonly country: string | null;
}

/** Every stored list, or those of one project, the newest first. */
export async function listStoredLists(catalog: Catalog, project: string | null): Promise<ListStatus[]> {
  const rows = await catalog.statements.all<Row<ListStatus>>('lists_all', { project });
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
export async function listProviderLists(
  catalog: Catalog,
  fetched: { after: Microseconds; until: Microseconds },
): Promise<ProviderList[]> {
  return catalog.statements.all<ProviderList>('lists_of_providers', fetched);
}

/** Removes a list; its file is retired. */
export async function removeList(catalog: Catalog, file: string): Promise<void> {
  await catalog.statements.run('list_delete', { file });
}

/** Removes the lists of a project that came from providers. */
export async function dropProviderLists(catalog: Catalog, project: string): Promise<void> {
  await catalog.statements.run('lists_delete_of_providers', { project });
}

/** Removes lists that were made from what is not current any more. */
export async function dropOutdatedLists(catalog: Catalog): Promise<void> {
  await catalog.statements.run('lists_delete_outdated');
}

/** The file of the list that was fetched first, apart from one. */
export async function findOldestList(catalog: Catalog, keep: string): Promise<string | undefined> {
  const row = await catalog.statements.get<{ file: string }>('list_oldest', { keep });
  return row?.file;
}

/** Whether a file is that of a list that is stored, or was until a while ago. */
export async function isListKnown(catalog: Catalog, file: string): Promise<boolean> {
  return (await catalog.statements.get('list_known', { file })) !== undefined;
}

/** Files of lists that were removed before an instant, the oldest first. */
export async function listRetiredLists(
  catalog: Catalog,
  before: Microseconds,
): Promise<{ file: string; retiredAt: Microseconds }[]> {
  return catalog.statements.all('lists_retired', { before });
}

/** Forgets retired files, which are there no more. */
export async function forgetRetiredLists(catalog: Catalog, files: readonly string[]): Promise<void> {
  await catalog.statements.runEach(
    'list_retired_forget',
    files.map((file) => ({ file })),
  );
}
