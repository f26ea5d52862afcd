import type { Catalog, Value } from '../catalog/catalog.ts';
import { findRow, removeRows, type Table, upsertRows } from '../catalog/entity-rows.ts';
import { addLoadedTable, type LoadedTable, putFactFile, removeFactFile } from '../catalog/manifest.ts';
import { nextPublication } from '../catalog/publications.ts';
import { type Changed, raiseRevisions } from '../catalog/revisions.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { Journal, JournalRecord } from './journal.ts';
import type { PartChange } from './new-files.ts';
import type { Carried } from './state.ts';
import { ENTITIES, type EntityTable, identifiers } from './tables.ts';

/** Rows that are read at a time. */
const SLICE = 10_000;

export type Row = Record<string, Value>;

/** Values that depend on other columns, where the snapshot leaves them out. */
const DERIVED: Partial<Record<EntityTable['name'], (row: Row) => Row>> = {
  projects: (row) => ({
    ...row,
    sync_status: row['sync_status'] ?? (row['synced_through'] === null ? 'pending' : 'ok'),
  }),
  keywords: (row) => ({ ...row, intent: row['intent'] ?? estimateIntent(row['query'] as string) }),
};

interface Stores {
  readonly catalog: Catalog;
  readonly journal: Journal;
}

/** Writes further rows in the transaction of a load. Returns the projects whose row it changed. */
export type Alongside = (own: Catalog) => Promise<readonly string[]>;

/**
 * Makes a load current, in one transaction on a connection of its own: rows of entities, the manifest, and the revisions
 * of the projects that it changes. Readers, in this process too, see the state before it or the state after it. The same
 * is in the journal, before the commit.
 * @param named the projects that it names in its entity tables
 * @param loaded what the load carries of facts, also where it has no row
 */
export async function publish(
  session: Session,
  stores: Stores,
  {
    tables,
    replaced,
    named,
    alongside,
  }: Carried & { readonly named: readonly string[]; readonly alongside?: Alongside },
  changes: readonly PartChange[],
  loaded: readonly LoadedTable[],
): Promise<void> {
  const touched = new Set([...changes.map(({ project }) => project), ...named]);
  await publishing(stores, async (own, record) => {
    const changed = new ChangedRows(changes);
    for (const shape of replaced.toReversed()) await removeStaged(session, own, record, shape, changed);
    for (const shape of tables) await writeStaged(session, own, record, shape, changed);
    for (const id of (await alongside?.(own)) ?? []) changed.projects.add(id);
    await recordOwners(own, record, touched.union(changed.projects));
    await writeManifest(own, record, changes);
    for (const { project, table } of loaded) {
      await addLoadedTable(own, { project, table });
      await record.add({ loaded: { project, table } });
    }
    await raiseRevisions(own, changed);
  });
}

/** As `publish`, for files that were made from what is stored: the entities stay as they are. */
export async function publishFiles(stores: Stores, changes: readonly PartChange[]): Promise<void> {
  await publishing(stores, async (own, record) => {
    await writeManifest(own, record, changes);
    await raiseRevisions(own, new ChangedRows(changes));
  });
}

/** One transaction, and the record of it: durable before the commit, and known as committed after it. */
export async function publishing<T>(
  { catalog, journal }: Stores,
  writes: (own: Catalog, record: JournalRecord) => Promise<T>,
): Promise<T> {
  const result = await catalog.transaction(async (own) => {
    await using record = await journal.begin(await nextPublication(own));
    const written = await writes(own, record);
    await record.seal();
    return written;
  });
  await journal.settle(catalog);
  return result;
}

/** Whose cached answers a load outdates. A row that is what it was before does not count. */
export class ChangedRows implements Changed {
  readonly facts: ReadonlySet<string>;
  readonly projects = new Set<string>();
  readonly keywords = new Set<string>();
  readonly workspaces = new Set<string>();

  constructor(changes: readonly PartChange[]) {
    this.facts = new Set(changes.map(({ project }) => project));
  }

  /** Notes whom a row that was written or removed changes. Alerts and notes are not cached. */
  note(table: EntityTable['name'], row: Row): void {
    if (table === 'alerts' || table === 'notes' || table === 'workspaces') return;
    const project = (table === 'projects' ? row['id'] : row['project_id']) as string;
    this.projects.add(project);
    if (table === 'keywords') this.keywords.add(project);
  }
}

/** The projects of a load and their workspaces may have been made otherwise: the journal has them with their facts. */
export async function recordOwners(catalog: Catalog, record: JournalRecord, projects: Iterable<string>): Promise<void> {
  const rowOf = (table: EntityTable['name'], id: string): Promise<Row | undefined> =>
    findRow(catalog, tableOf(ENTITIES.find(({ name }) => name === table)!), id);
  const workspaces = new Set<string>();
  const owned: Row[] = [];
  for (const id of projects) {
    const row = await rowOf('projects', id);
    if (row === undefined) continue;
    owned.push(row);
    workspaces.add(row['workspace_id'] as string);
  }
  for (const id of workspaces) await record.add({ upsert: 'workspaces', row: (await rowOf('workspaces', id))! });
  for (const row of owned) await record.add({ upsert: 'projects', row });
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

async function removeStaged(
  session: Session,
  own: Catalog,
  record: JournalRecord,
  shape: EntityTable,
  changed: ChangedRows,
): Promise<void> {
  const { name: table, key } = shape;
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  for (const row of await removeRows(own, tableOf(shape), removed)) changed.note(table, row);
  for (const row of removed) await record.add({ remove: table, row });
}

async function writeStaged(
  session: Session,
  own: Catalog,
  record: JournalRecord,
  shape: EntityTable,
  changed: ChangedRows,
): Promise<void> {
  const { name: table, columns } = shape;
  // DuckDB's types to those of the catalog: days are texts, truth is 0 or 1.
  const selected = columns.map(({ name, type }) =>
    type.sql === 'date'
      ? `"${name}"::varchar as "${name}"`
      : type.sql === 'boolean'
        ? `"${name}"::integer as "${name}"`
        : `"${name}"`,
  );
  const derive = DERIVED[table] ?? ((row: Row) => row);
  const text = sqlTemplate('load/table_rows', { table, columns: selected.join(', ') });
  for (let after = -1; ; after += SLICE) {
    const rows = (await session.rows<Row>(text, { after, limit: SLICE })).map(derive);
    if (table === 'workspaces') await noteHistories(own, rows, changed);
    for (const row of await upsertRows(own, tableOf(shape), rows)) changed.note(table, row);
    for (const row of rows) await record.add({ upsert: table, row });
    if (rows.length < SLICE) break;
  }
}

/** Notes workspaces whose plan will have another history. Nothing cached depends on the rest of them. */
async function noteHistories(own: Catalog, rows: readonly Row[], changed: ChangedRows): Promise<void> {
  for (const { id, keyword_history_days: days } of rows) {
    const before = await findWorkspace(own, id as string);
    if (before?.keywordHistoryDays !== days) changed.workspaces.add(id as string);
  }
}

/** An entity table as the catalog's repositories take it. */
export function tableOf({ name: table, columns, key }: EntityTable): Table {
  return { table, columns: columns.map(({ name }) => name), key };
}
