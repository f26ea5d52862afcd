import type { Catalog, LoadLock, Value } from '../catalog/catalog.ts';
import { findRow, type Table } from '../catalog/entity-rows.ts';
import {
  addLoadedTable,
  type Changed,
  type LoadedTable,
  putFactFile,
  raiseRevisions,
  removeFactFile,
} from '../catalog/fact-files.ts';
import { type BulkExportDays, putBulkExportDays } from '../catalog/sync-days.ts';
import type { Engine } from '../facts/duckdb/engine.ts';
import { allEnded } from '../runtime/promises.ts';
import { replacedBulkExportDays } from './bulk-export-days.ts';
import type { JournalRecord, Publications } from './journal.ts';
import type { FactFiles, PartChange } from './new-files.ts';
import { filesAtOnce, planParts, type StagedDays, threadsToWrite, writePartFiles } from './part-files.ts';
import { ENTITIES, type EntityTable } from './tables.ts';

export type Row = Record<string, Value>;

export interface PublishStores {
  readonly catalog: Catalog;
  readonly journal: Publications;
  /** The lock of the load. */
  readonly lock: LoadLock;
  readonly files: FactFiles;
}

/** The transaction that publishes a change. */
export interface Publishing {
  readonly tx: Catalog;
  readonly record: JournalRecord;
  /** What the transaction changes; its revisions are raised at the end. */
  readonly changed: ChangedRows;
}

/**
 * Writes further rows in the transaction of a change, and checks what must be of the same moment. Other writers wait for it, so
 * it waits for nothing else.
 */
export type InTransaction = (publishing: Publishing) => Promise<void>;

/**
 * Publishes fact files in one transaction on a separate connection: the rows that `inTransaction` writes, the manifest, and the
 * revisions of changed projects. Readers, also in this process, see the state before or after it. The journal contains the
 * facts of it before the commit.
 */
export async function publishFiles(
  stores: PublishStores,
  { changes, loaded = [], bulkExportDays = [] }: PublishedFiles,
  inTransaction?: InTransaction,
): Promise<void> {
  await journaledTransaction(stores, async (tx, record) => {
    const changed = new ChangedRows([...changes, ...bulkExportDays]);
    // New files are where other processes read them.
    await stores.files.store.requireCurrent(tx);
    await inTransaction?.({ tx, record, changed });
    await writeManifest(tx, record, changes);
    for (const { project, table } of loaded) {
      await addLoadedTable(tx, { project, table });
      await record.add({ loaded: { project, table } });
    }
    for (const days of bulkExportDays) {
      await putBulkExportDays(tx, days);
      await record.add({ bulkExport: days });
    }
    await raiseRevisions(tx, changed);
  });
}

export interface PublicationOptions {
  /**
   * For a sequence of publications of earlier and earlier days, each of which would rewrite the cumulative totals of all
   * later months: removes them. Keyword totals are computed from running totals and days until another publication or
   * `completeCumulative` writes them.
   */
  readonly deferCumulative?: boolean;
  readonly inTransaction?: InTransaction;
}

/** New files beside the current ones, and what their rows are. */
export interface PublishedFiles {
  readonly changes: readonly PartChange[];
  /** The fact tables of the change, including those without rows. */
  readonly loaded?: readonly LoadedTable[];
  /** The tables whose record of days from a bulk export changes. */
  readonly bulkExportDays?: readonly BulkExportDays[];
}

interface WritingOptions extends Pick<PublicationOptions, 'deferCumulative'> {
  /** Whether the days come from a bulk export. */
  readonly isBulkExport?: boolean;
  readonly report?: (step: string) => void;
  /** Aborted when a file fails. Stops before the next file. */
  readonly stop?: AbortController;
}

/** Writes the new files of all tables, until one fails. What is not published is removed when the change ends. */
export async function writeDays(
  engine: Engine,
  { catalog, files }: Pick<PublishStores, 'catalog' | 'files'>,
  staged: readonly StagedDays[],
  { isBulkExport = false, report = () => {}, stop = new AbortController(), ...options }: WritingOptions,
): Promise<PublishedFiles> {
  const limit = filesAtOnce();
  const { signal } = stop;
  const tables = await allEnded(
    staged.map(async (of) => ({ schema: of.schema, planned: await planParts(catalog, of) })),
  );
  await engine.useThreads(
    threadsToWrite(
      engine,
      tables.flatMap(({ planned }) => planned),
    ),
  );
  const writing = tables.map((of) => {
    report(`writing ${of.schema.name}`);
    return writePartFiles(engine, catalog, { files, ...of, ...options, limit, signal }).catch((error: unknown) => {
      stop.abort(error);
      throw error;
    });
  });
  const loaded = staged.flatMap(({ schema, days }) =>
    [...days.keys()].map((project) => ({ project, table: schema.name })),
  );
  const changes = (await allEnded(writing)).flat();
  return { changes, loaded, bulkExportDays: await replacedBulkExportDays(catalog, staged, isBulkExport) };
}

/** Publishes what `writeDays` has written, in one transaction. */
export async function publishWritten(
  stores: PublishStores,
  written: PublishedFiles,
  inTransaction?: InTransaction,
): Promise<void> {
  await stores.files.store.syncFolders();
  await publishFiles(stores, written, inTransaction);
}

/** Replaces days by staged rows: writes new fact files beside the current ones, and publishes them in one transaction. */
export async function publishStaged(
  engine: Engine,
  stores: PublishStores,
  staged: readonly StagedDays[],
  { inTransaction, ...options }: PublicationOptions,
): Promise<void> {
  await publishWritten(stores, await writeDays(engine, stores, staged, options), inTransaction);
}

/**
 * Runs a transaction with a journal record, which is durable before the commit, and marked as committed after it or removed if
 * it failed.
 */
export async function journaledTransaction<T>(
  { catalog, journal, lock }: Omit<PublishStores, 'files'>,
  writes: (tx: Catalog, record: JournalRecord) => Promise<T>,
): Promise<T> {
  try {
    return await catalog.transaction(async (tx) => {
      await using record = await journal.begin(tx);
      const written = await writes(tx, record);
      await record.seal();
      return written;
    }, lock);
  } finally {
    // If this fails, the next change settles the record before anything else, or fails.
    await journal.settle(catalog).catch(() => {});
  }
}

/** Projects and workspaces whose cached reports a change invalidates. Unchanged rows do not count. */
export class ChangedRows implements Changed {
  readonly facts: ReadonlySet<string>;
  readonly projects = new Set<string>();
  readonly keywords = new Set<string>();
  readonly workspaces = new Set<string>();

  constructor(changes: readonly Pick<PartChange, 'project'>[]) {
    this.facts = new Set(changes.map(({ project }) => project));
  }

  /** Records the owner of a written or removed row. Alerts and notes are not cached. */
  note(table: EntityTable['name'], row: Row): void {
    if (table === 'alerts' || table === 'notes' || table === 'workspaces') return;
    const project = (table === 'projects' ? row['id'] : row['project_id']) as string;
    this.projects.add(project);
    if (table === 'keywords') this.keywords.add(project);
  }
}

/**
 * Adds the projects of a load and their workspaces to the journal: they may have been created without a journaled load.
 * Returns the ids of the projects by workspace.
 */
export async function recordOwners(
  catalog: Catalog,
  record: JournalRecord,
  projects: Iterable<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rowOf = (table: EntityTable['name'], id: string): Promise<Row | undefined> =>
    findRow(catalog, tableOf(ENTITIES.find(({ name }) => name === table)!), id);
  const workspaces = new Map<string, string[]>();
  const owned: Row[] = [];
  for (const id of projects) {
    const row = await rowOf('projects', id);
    if (row === undefined) continue;
    owned.push(row);
    const workspace = row['workspace_id'] as string;
    const ids = workspaces.get(workspace);
    if (ids === undefined) workspaces.set(workspace, [id]);
    else ids.push(id);
  }
  for (const id of workspaces.keys()) await record.add({ upsert: 'workspaces', row: (await rowOf('workspaces', id))! });
  for (const row of owned) await record.add({ upsert: 'projects', row });
  return workspaces;
}

async function writeManifest(catalog: Catalog, record: JournalRecord, changes: readonly PartChange[]): Promise<void> {
  for (const { project, table, part, written } of changes) {
    if (written === null) {
      await removeFactFile(catalog, { project, table, part });
      await record.add({ gone: { project, table, part } });
    } else {
      const row = { project, table, part, ...written };
      await putFactFile(catalog, row);
      await record.add({ file: row });
    }
  }
}

/** The table description that the catalog's repositories use. */
export function tableOf({ name: table, columns, key }: EntityTable): Table {
  return { table, columns: columns.map(({ name }) => name), key };
}
