import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Range } from '../domain/range.ts';
import type { Catalog } from './catalog.ts';
import type { Usage } from './usage.ts';

export type ListKind = 'pages' | 'queries';

/** What the rows of a list belong to: the queries of one page, or the pages of one query. */
export interface ListPair {
  /** The address of the page of queries, or the query of pages. */
  readonly of: string;
  /** Null for all devices. */
  readonly device: string | null;
}

/** The key of a stored list. */
export interface ListKey {
  readonly project: string;
  readonly kind: ListKind;
  readonly from: Day;
  readonly to: Day;
  /** '' for all countries. */
  readonly country: string;
  /** A hash of its pair, and of what names its rows; '' for a whole list. */
  readonly selection: string;
  /** The data behind the list: `property PROPERTY` of a provider, or `facts REVISION` of stored facts. */
  readonly sourceKey: string;
}

/** A list of ranked rows, stored as a Parquet file. */
export interface StoredList {
  /** Relative to the data folder; '' for a list without a file. */
  readonly file: string;
  /** The name of the source in responses. */
  readonly source: string;
  readonly rows: number;
  /** There were more rows than the maximum. */
  readonly truncated: boolean;
  /** The number of rows is the maximum. */
  readonly capped: boolean;
  /** All its days are final. */
  readonly final: boolean;
  readonly bytes: number;
  /** Content hash of the file; '' for lists of older versions. */
  readonly sha256: string;
  readonly fetchedAt: Microseconds;
}

/** Limits of stored lists in total. */
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
  const row = await catalog.statements.get<Row<StoredList>>('lists.one', { ...key });
  return row && { ...row, ...readFlags(row) };
}

/**
 * Stores a list, replacing the one with its key, and removes the project's lists that have neither its source key nor another
 * current one. Requires a transaction.
 */
export async function putList(tx: Catalog, key: ListKey, list: StoredList): Promise<void> {
  const before = await findList(tx, key);
  if (before !== undefined) await removeList(tx, before.file);
  await tx.statements.run('lists.remove_of_other_sources', { project: key.project, sourceKey: key.sourceKey });
  const { fetchedAt: at, truncated, capped, final, ...rest } = list;
  const flags = { truncated: Number(truncated), capped: Number(capped), final: Number(final) };
  await tx.statements.run('lists.put', { ...key, ...rest, ...flags, at });
}

/** The number of stored lists, and their bytes. */
export async function readListTotals(catalog: Catalog): Promise<ListLimits> {
  return (await catalog.statements.get<ListLimits>('lists.totals'))!;
}

/** Whether stored lists exceed `limits`. */
export async function exceeds(catalog: Catalog, limits: ListLimits): Promise<boolean> {
  const { lists, bytes } = await readListTotals(catalog);
  return lists > limits.lists || bytes > limits.bytes;
}

export interface ListStatus extends Omit<StoredList, 'sha256'>, Range {
  readonly project: string;
  readonly kind: ListKind;
  readonly country: string | null;
  /** `one page` or `one query`; null for whole lists. */
  readonly part: string | null;
}

/** All stored lists, or those of one project, newest first. */
export async function listStoredLists(catalog: Catalog, project: string | null): Promise<ListStatus[]> {
  const rows = await catalog.statements.all<Row<ListStatus>>('lists.all', { project });
  return rows.map((row) => ({ ...row, ...readFlags(row) }));
}

/** A list from a provider, with the parameters to fetch it again. */
export interface ProviderList extends Range {
  readonly file: string;
  readonly project: string;
  readonly kind: ListKind;
  readonly country: string | null;
  /** See `ListKey`. */
  readonly sourceKey: string;
}

/** Whole provider lists that are not final and were fetched in a time range. */
export async function listProviderLists(
  catalog: Catalog,
  fetched: { after: Microseconds; until: Microseconds },
): Promise<ProviderList[]> {
  return catalog.statements.all<ProviderList>('lists.of_providers', fetched);
}

/** Removes a list; its file is retired. */
export async function removeList(catalog: Catalog, file: string): Promise<void> {
  await catalog.statements.run('lists.remove', { file });
}

/** Retires a file before it is stored: if interrupted, it is removed like the file of a removed list. */
export async function retireList(catalog: Catalog, file: string, at: Microseconds): Promise<void> {
  await catalog.statements.run('lists.retire', { file, at });
}

export async function dropProviderLists(catalog: Catalog, project: string): Promise<void> {
  await catalog.statements.run('lists.remove_of_providers', { project });
}

/** Drops the lists of a project that end before a day. Files are retired. */
export async function dropListsBefore(tx: Catalog, project: string, before: Day): Promise<void> {
  await tx.statements.run('lists.remove_before', { project, before });
}

/** Removes lists of outdated data. */
export async function dropOutdatedLists(catalog: Catalog): Promise<void> {
  await catalog.statements.run('lists.remove_outdated');
}

/** The file of the list with the oldest fetch, except `keep`. */
export async function findOldestList(catalog: Catalog, keep: string): Promise<string | undefined> {
  const row = await catalog.statements.get<{ file: string }>('lists.oldest', { keep });
  return row?.file;
}

/** Whether a file belongs to a stored or retired list. */
export async function isListKnown(catalog: Catalog, file: string): Promise<boolean> {
  return (await catalog.statements.get('lists.is_known', { file })) !== undefined;
}

/** Files of lists that were removed before an instant, oldest first. */
export async function listRetiredLists(
  catalog: Catalog,
  before: Microseconds,
): Promise<{ file: string; retiredAt: Microseconds }[]> {
  return catalog.statements.all('lists.retired', { before });
}

/** Deletes the records of retired files after their removal. */
export async function forgetRetiredLists(catalog: Catalog, files: readonly string[]): Promise<void> {
  await catalog.statements.runEach(
    'lists.forget_retired',
    files.map((file) => ({ file })),
  );
}

/** Number of reads of a list, and the last one. */
export interface ListUse {
  readonly hits: number;
  readonly usedAt: Microseconds;
}

/** The uses of all lists, by file. */
export async function readListUses(usage: Usage): Promise<Map<string, ListUse>> {
  const rows = await usage.all<ListUse & { file: string }>('lists.uses');
  return new Map(rows.map(({ file, ...use }) => [file, use]));
}

/** Adds `hits` reads of a list. */
export async function noteListUse(usage: Usage, file: string, hits: number, at: Microseconds): Promise<void> {
  await usage.run('lists.used', { file, hits, at });
}

/** The file of the least recently used list except `keep`; undefined if uses are unknown. */
export async function findLeastUsedList(usage: Usage, keep: string): Promise<string | undefined> {
  const row = await usage.get<{ file: string }>('lists.least_used', { keep });
  return row?.file;
}

/** Deletes the uses of a list; false if the write failed. */
export function forgetListUse(usage: Usage, file: string): Promise<boolean> {
  return usage.run('lists.forget_use', { file });
}

/** The position of a reader in a page sequence. */
export interface SequenceKey {
  readonly reader: string;
  /** Identifies the sequence. */
  readonly sequence: string;
  readonly offset: number;
}

/** The stored list for exactly this position, else for the latest one, stored at or after `since`. */
export async function findSequence(usage: Usage, key: SequenceKey, since: Microseconds): Promise<string | undefined> {
  const row = await usage.get<{ list: string }>('page-sequences.list', { ...key, since });
  return row?.list;
}

/** Stores the list from which the page at a position is read. */
export async function putSequence(
  usage: Usage,
  { reader, sequence, offset: nextOffset }: SequenceKey,
  { file, list, at }: { readonly file: string; readonly list: string; readonly at: Microseconds },
): Promise<void> {
  await usage.run('page-sequences.put', { reader, sequence, nextOffset, file, list, at });
}

/** Whether a sequence stored at or after `since` reads a file. */
export async function isReadBySequence(usage: Usage, file: string, since: Microseconds): Promise<boolean> {
  return (await usage.get('page-sequences.read_file', { file, since })) !== undefined;
}

/** Deletes sequences stored before an instant. */
export async function forgetSequences(usage: Usage, before: Microseconds): Promise<void> {
  await usage.run('page-sequences.forget', { before });
}

/** Removes all lists, of a catalog that is older than their files. Requires a transaction. */
export async function dropAllLists(tx: Catalog): Promise<void> {
  await tx.statements.run('lists.remove_all');
}
