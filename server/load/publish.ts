import type { Catalog, Value } from '../catalog/catalog.ts';
import { findRow, removeRows, type Table, upsertRows } from '../catalog/entity-rows.ts';
import type { LoadLock } from '../catalog/locks.ts';
import { addLoadedTable, type LoadedTable, putFactFile, removeFactFile } from '../catalog/manifest.ts';
import { type Changed, raiseRevisions } from '../catalog/revisions.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import type { JournalRecord, Publications } from './journal.ts';
import { type LoadAudit, recordLoad } from './load-audit.ts';
import type { PartChange } from './new-files.ts';
import type { Carried } from './state.ts';
import { ENTITIES, type EntityTable, identifiers } from './tables.ts';

/** Rows read at a time. */
const SLICE = 10_000;

export type Row = Record<string, Value>;

/** Defaults that depend on other columns. */
const DERIVED: Partial<Record<EntityTable['name'], (row: Row) => Row>> = {
  projects: (row) => ({
    ...row,
    sync_status: row['sync_status'] ?? (row['synced_through'] === null ? 'pending' : 'ok'),
  }),
  keywords: (row) => ({ ...row, intent: row['intent'] ?? estimateIntent(row['query'] as string) }),
};

interface Stores {
  readonly catalog: Catalog;
  readonly journal: Publications;
  /** Of the load that publishes. */
  readonly lock: LoadLock;
}

/** Writes further rows in the transaction of a load. Returns the projects whose rows changed. */
export type Alongside = (own: Catalog) => Promise<readonly string[]>;

/**
 * Publishes a load in one transaction on a separate connection: entity rows, the manifest, and the revisions of changed
 * projects. Readers, also in this process, see the state before or after it. The journal contains the same before the
 * commit.
 * @param named the projects that the entity tables name
 * @param loaded the fact tables of the load, including those without rows
 */
export async function publish(
  session: Session,
  stores: Stores,
  {
    tables,
    replaced,
    named,
    alongside,
    audit,
  }: Carried & { readonly named: readonly string[]; readonly alongside?: Alongside; readonly audit?: LoadAudit },
  changes: readonly PartChange[],
  loaded: readonly LoadedTable[],
): Promise<void> {
  const touched = new Set([...changes.map(({ project }) => project), ...named]);
  await publishing(stores, async (own, record) => {
    const changed = new ChangedRows(changes);
    for (const schema of replaced.toReversed()) await removeStaged(session, own, record, schema, changed);
    for (const schema of tables) await writeStaged(session, own, record, schema, changed);
    for (const id of (await alongside?.(own)) ?? []) changed.projects.add(id);
    const owners = await recordOwners(own, record, touched.union(changed.projects));
    if (audit !== undefined) await recordLoad(own, audit, owners);
    await writeManifest(own, record, changes);
    for (const { project, table } of loaded) {
      await addLoadedTable(own, { project, table });
      await record.add({ loaded: { project, table } });
    }
    await raiseRevisions(own, changed);
  });
}

/** Publishes files derived from stored facts; entities do not change. @param alongside further writes */
export async function publishFiles(
  stores: Stores,
  changes: readonly PartChange[],
  alongside: (own: Catalog) => Promise<void> = async () => {},
): Promise<void> {
  await publishing(stores, async (own, record) => {
    await alongside(own);
    await writeManifest(own, record, changes);
    await raiseRevisions(own, new ChangedRows(changes));
  });
}

/** Runs a transaction with a journal record, which is durable before the commit and marked as committed after it. */
export async function publishing<T>(
  { catalog, journal, lock }: Stores,
  writes: (own: Catalog, record: JournalRecord) => Promise<T>,
): Promise<T> {
  const result = await catalog.transaction(async (own) => {
    await using record = await journal.begin(own);
    const written = await writes(own, record);
    await record.seal();
    return written;
  }, lock);
  await journal.settle(catalog);
  return result;
}

/** Projects and workspaces whose cached reports a change invalidates. Unchanged rows do not count. */
export class ChangedRows implements Changed {
  readonly facts: ReadonlySet<string>;
  readonly projects = new Set<string>();
  readonly keywords = new Set<string>();
  readonly workspaces = new Set<string>();

  constructor(changes: readonly PartChange[]) {
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

async function removeStaged(
  session: Session,
  own: Catalog,
  record: JournalRecord,
  schema: EntityTable,
  changed: ChangedRows,
): Promise<void> {
  const { name: table, key } = schema;
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  for (const row of await removeRows(own, tableOf(schema), removed)) changed.note(table, row);
  for (const row of removed) await record.add({ remove: table, row });
}

async function writeStaged(
  session: Session,
  own: Catalog,
  record: JournalRecord,
  schema: EntityTable,
  changed: ChangedRows,
): Promise<void> {
  const { name: table, columns } = schema;
  // The catalog stores days as text and booleans as 0 or 1.
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
    for (const row of await upsertRows(own, tableOf(schema), rows)) changed.note(table, row);
    for (const row of rows) await record.add({ upsert: table, row });
    if (rows.length < SLICE) break;
  }
}

/** Records workspaces whose keyword history changes. Nothing cached depends on their other columns. */
async function noteHistories(own: Catalog, rows: readonly Row[], changed: ChangedRows): Promise<void> {
  for (const { id, keyword_history_days: days } of rows) {
    const before = await findWorkspace(own, id as string);
    if (before?.keywordHistoryDays !== days) changed.workspaces.add(id as string);
  }
}

/** The table description that the catalog's repositories use. */
export function tableOf({ name: table, columns, key }: EntityTable): Table {
  return { table, columns: columns.map(({ name }) => name), key };
}
