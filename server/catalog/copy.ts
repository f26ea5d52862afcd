import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Catalog, OpenCatalog, Values } from './catalog.ts';
import { eachWholeRow, upsertRows } from './entity-rows.ts';
import type { CatalogLocation } from './location.ts';
import { openUsage } from './open-usage.ts';
import { stopChanges as stopInFolder } from './sqlite/catalog-file.ts';
import { openSqliteTarget } from './sqlite/copy-target.ts';

interface CopyOptions {
  readonly from: CatalogLocation;
  readonly target: CatalogLocation;
  /** Makes the source read-only. Always done for a copy from a folder into a database. */
  readonly move?: boolean;
  readonly report: (step: string) => void;
}

export interface CopyReport {
  /** Name of the copy, without a password. */
  readonly to: string;
  /** `unchanged`: the target had the same copy already. */
  readonly state: 'copied' | 'unchanged';
  /** Contents of both sides. */
  readonly tables: readonly TableContents[];
}

/**
 * Copies one state of a catalog to a place without one, in one transaction, and compares both row by row. Throws if the
 * target has another catalog or a load is running. If the process is killed, the target has no catalog. A moved source
 * is read-only from then on, unless the copy fails.
 */
export async function copyCatalogTo(
  source: OpenCatalog,
  { from, target, move = false, report }: CopyOptions,
): Promise<CopyReport> {
  await using lock = await source.locks.takeLoad('all');
  if (lock === undefined) throw new Error('A load is running; copy the catalog when it has ended.');
  await using opened = await openTarget(target);
  // A copy in a folder may be a backup of a running service.
  const isMove = move || (from.catalogUrl === '' && target.catalogUrl !== '');
  const undo = isMove ? await stopChanges(from, opened.name) : undefined;
  try {
    return await copyStateTo(source, opened, report);
  } catch (error) {
    await undo?.();
    throw error;
  }
}

/** Copies one state of a catalog into a folder without one, and compares both, while others read and write it. */
export async function copyStateInto(
  source: OpenCatalog,
  dataFolder: string,
  report: (step: string) => void,
): Promise<void> {
  await using opened = await openTarget({ dataFolder, catalogUrl: '' });
  await copyStateTo(source, opened, report);
}

async function stopChanges(
  { dataFolder, catalogUrl }: CatalogLocation,
  to: string,
): Promise<() => void | Promise<void>> {
  if (catalogUrl === '') return stopInFolder(dataFolder, to);
  // The driver is loaded only if it is used.
  const { stopChanges: stopInDatabase } = await import('./postgres/copy-target.ts');
  return stopInDatabase(catalogUrl, to);
}

/** Copies one state of a catalog to an open target, and compares both. See `copyCatalogTo`, without locks and marks. */
export function copyStateTo(
  source: OpenCatalog,
  opened: CopyTarget,
  report: (step: string) => void,
): Promise<CopyReport> {
  const { name: to } = opened;
  return source.snapshot(async (from) => {
    if (opened.hasCatalog) {
      const tables = await readContents(from, report);
      const there = await opened.read((to) => readContents(to, report));
      requireSame(to, tables, there);
      return { to, state: 'unchanged', tables };
    }
    const tables = await opened.fill(async (to) => {
      const copied = await copyTables(from, to, report);
      report('comparing');
      const there = await readContents(to, report);
      const wrong = differing(copied, there);
      if (wrong.length > 0)
        throw new Error(`The copy differs from its source in ${wrong.join(', ')}; nothing was copied.`);
      return copied;
    });
    return { to, state: 'copied', tables };
  });
}

async function copyTables(from: Catalog, to: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table, key } of TABLES) {
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(from, table)) {
      hash.add(rows);
      if (rows.length > 0) await upsertRows(to, { table, key, columns: Object.keys(rows[0]!) }, rows);
      report(`copying ${table}: ${hash.rows.toLocaleString('en')} rows`);
    }
    contents.push(hash.contents);
  }
  return contents;
}

/** The contents of all tables. */
async function readContents(to: Catalog, report: (step: string) => void): Promise<TableContents[]> {
  const contents: TableContents[] = [];
  for (const { table } of TABLES) {
    report(`comparing ${table}`);
    const hash = new TableHash(table);
    for await (const rows of eachWholeRow(to, table)) hash.add(rows);
    contents.push(hash.contents);
  }
  return contents;
}

function requireSame(to: string, tables: readonly TableContents[], there: readonly TableContents[]): void {
  // Writing the journal of a copy changes the one, and its first process the other.
  const wrong = differing(tables, there).filter((table) => !['publication', 'store_identity'].includes(table));
  if (wrong.length === 0) return;
  throw new Error(
    `There is another catalog in ${to}, which differs in ${wrong.join(', ')}; nothing was changed. Copy into a place without a catalog.`,
  );
}

function differing(one: readonly TableContents[], other: readonly TableContents[]): string[] {
  return one.filter((contents, index) => !isDeepStrictEqual(contents, other[index])).map(({ table }) => table);
}

/** Statements that read a whole table, those that write a row, and the parameter of the latter for each column. */
const COPIED = [
  ['keys.uses', 'keys.used', { id: 'id', usedAt: 'at' }],
  ['keys.days_since', 'keys.used_on_day', { id: 'id', day: 'day', requests: 'requests', lastAt: 'at' }],
  ['lists.uses', 'lists.used', { file: 'file', usedAt: 'at', hits: 'hits' }],
] as const;

/** Copies the use of keys and lists into an empty usage database, as far as possible. Returns the number of rows. */
export async function copyUses(source: CatalogLocation, target: CatalogLocation): Promise<number> {
  const [from, to] = [openUsage(source, () => {}), openUsage(target, () => {})];
  let copied = 0;
  try {
    for (const [all, put, names] of COPIED) {
      const rows = await from.all<Record<string, string | number>>(all, all === 'keys.days_since' ? { since: '' } : {});
      for (const row of rows) {
        const values = Object.fromEntries(Object.entries(names).map(([column, name]) => [name, row[column]!]));
        if (await to.run(put, values)) copied++;
      }
    }
    return copied;
  } finally {
    await from.close();
    await to.close();
  }
}

/** A place that a catalog is copied to. */
export interface CopyTarget extends AsyncDisposable {
  /** For messages; without a password. */
  readonly name: string;
  /** Whether there is a catalog already. */
  readonly hasCatalog: boolean;
  /** Reads one state of the existing catalog. */
  read<T>(work: (copy: Catalog) => Promise<T>): Promise<T>;
  /** Atomically creates a catalog with what `work` writes. */
  fill<T>(work: (copy: Catalog) => Promise<T>): Promise<T>;
}

export async function openTarget({ dataFolder, catalogUrl }: CatalogLocation): Promise<CopyTarget> {
  if (catalogUrl === '') return openSqliteTarget(dataFolder);
  // The driver is loaded only if it is used.
  const { openPostgresTarget } = await import('./postgres/copy-target.ts');
  return openPostgresTarget(catalogUrl);
}

/** Number and hash of a table's rows. */
interface TableContents {
  readonly table: string;
  readonly rows: number;
  /** Hexadecimal; equal for equal rows, regardless of order. */
  readonly hash: string;
}

const MODULUS = 1n << 128n;

/** Counts and hashes rows: the hash is the sum of those of the rows, so that their order does not matter. */
class TableHash {
  readonly #table: string;
  #rows = 0;
  #sum = 0n;

  constructor(table: string) {
    this.#table = table;
  }

  add(rows: readonly Values[]): void {
    for (const row of rows) {
      const sorted = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
      const text = JSON.stringify(sorted, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
      this.#sum = (this.#sum + BigInt(`0x${hash('sha256', text).slice(0, 32)}`)) % MODULUS;
    }
    this.#rows += rows.length;
  }

  get rows(): number {
    return this.#rows;
  }

  get contents(): TableContents {
    return { table: this.#table, rows: this.#rows, hash: this.#sum.toString(16).padStart(32, '0') };
  }
}

/**
 * The tables of a catalog with their keys, each after those that it refers to. Excludes counters of the database and
 * tables that only running loads need.
 */
export const TABLES: readonly { readonly table: string; readonly key: readonly string[] }[] = [
  { table: 'workspaces', key: ['id'] },
  { table: 'members', key: ['workspace_id', 'email'] },
  { table: 'projects', key: ['id'] },
  { table: 'submissions', key: ['hash'] },
  { table: 'keys', key: ['id'] },
  { table: 'key_projects', key: ['key_id', 'project_id'] },
  { table: 'feeds', key: ['id'] },
  { table: 'login_links', key: ['hash'] },
  { table: 'sessions', key: ['hash'] },
  { table: 'invitations', key: ['id'] },
  { table: 'shares', key: ['id'] },
  { table: 'keywords', key: ['project_id', 'id'] },
  { table: 'keyword_gaps', key: ['project_id', 'keyword_id', 'first_day'] },
  { table: 'edits', key: ['owner', 'id'] },
  { table: 'groups', key: ['project_id', 'id'] },
  { table: 'group_members', key: ['project_id', 'group_id', 'keyword_id'] },
  { table: 'page_groups', key: ['project_id', 'id'] },
  { table: 'alerts', key: ['id'] },
  { table: 'alert_rules', key: ['id'] },
  { table: 'alert_evaluations', key: ['project_id'] },
  { table: 'evaluated_alerts', key: ['id'] },
  { table: 'notes', key: ['id'] },
  { table: 'saved_views', key: ['id'] },
  { table: 'project_tags', key: ['project_id', 'tag'] },
  { table: 'favourites', key: ['project_id', 'email'] },
  { table: 'dismissed_findings', key: ['id'] },
  { table: 'grants', key: ['id'] },
  { table: 'connect_attempts', key: ['state_hash'] },
  { table: 'channels', key: ['id'] },
  { table: 'deliveries', key: ['id'] },
  { table: 'digest_verdicts', key: ['channel_id', 'event', 'note_id'] },
  { table: 'connections', key: ['project_id', 'kind'] },
  { table: 'provider_pauses', key: ['kind', 'property'] },
  { table: 'sync_projects', key: ['project_id'] },
  { table: 'sitemaps', key: ['project_id'] },
  { table: 'crawl_days', key: ['project_id', 'property', 'day'] },
  { table: 'inspection_projects', key: ['project_id'] },
  { table: 'inspected_pages', key: ['project_id', 'url'] },
  { table: 'inspection_changes', key: ['project_id', 'url', 'since'] },
  { table: 'sync_days', key: ['project_id', 'fact_table', 'day'] },
  { table: 'sync_keywords', key: ['project_id', 'keyword_id'] },
  { table: 'fact_files', key: ['project_id', 'fact_table', 'part'] },
  { table: 'retired_files', key: ['file'] },
  { table: 'removed_parts', key: ['project_id', 'fact_table', 'part'] },
  { table: 'loaded_tables', key: ['project_id', 'fact_table'] },
  { table: 'bulk_export_days', key: ['project_id', 'fact_table', 'from_day'] },
  { table: 'ranking_updates', key: ['id'] },
  { table: 'ranking_feed', key: ['only'] },
  { table: 'lists', key: ['file'] },
  { table: 'retired_lists', key: ['file'] },
  { table: 'revision', key: ['only'] },
  { table: 'publication', key: ['only'] },
  { table: 'store_identity', key: ['only'] },
  { table: 'audit', key: ['id'] },
  { table: 'last_backup', key: ['only'] },
];
