import type { SQLInputValue } from 'node:sqlite';
import type { Catalog } from '../catalog/catalog.ts';
import { newUuid } from '../domain/ids.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/engine.ts';
import { sqlTemplate } from '../sql.ts';
import type { Journal, JournalRecord, Publication } from './journal.ts';
import type { PartChange } from './new-files.ts';
import { ENTITIES, type EntityTable, identifiers } from './tables.ts';

const SLICE = 10_000;

type Row = Record<string, SQLInputValue>;

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

/**
 * Makes a load current, in one transaction: rows of entities, the manifest, and the revision of every project that is
 * touched. Readers see the state before it or the state after it. The same is in the journal, before the commit.
 */
export async function publish(session: Session, stores: Stores, changes: readonly PartChange[]): Promise<void> {
  const { catalog } = stores;
  const touchedProjects = new Set(changes.map(({ project }) => project));
  for (const { id } of await session.rows<{ id: string }>('select id from named_projects')) touchedProjects.add(id);
  const touchedWorkspaces = await session.rows<{ id: string }>('select id from named_workspaces');

  await publishing(stores, async (record) => {
    for (const shape of [...ENTITIES].reverse()) await removeRows(session, catalog, record, shape);
    for (const shape of ENTITIES) await upsertRows(session, catalog, record, shape);
    await recordOwners(catalog, record, touchedProjects);
    await writeManifest(catalog, record, changes);
    const { value: revision } = catalog.get<{ value: number }>('revision_next')!;
    for (const id of touchedProjects) catalog.run('revision_raise', { id, revision });
    for (const { id } of touchedWorkspaces) catalog.run('revision_raise_workspace', { id, revision });
  });
}

/** As `publish`, for files that were made from what is stored: the entities stay as they are. */
export async function publishFiles(stores: Stores, changes: readonly PartChange[]): Promise<void> {
  const { catalog } = stores;
  await publishing(stores, async (record) => {
    await writeManifest(catalog, record, changes);
    const { value: revision } = catalog.get<{ value: number }>('revision_next')!;
    for (const id of new Set(changes.map(({ project }) => project))) catalog.run('revision_raise', { id, revision });
  });
}

/** One transaction, and the record of it: durable before the commit, and known as committed after it. */
async function publishing(
  { catalog, journal }: Stores,
  writes: (record: JournalRecord) => Promise<void>,
): Promise<void> {
  await catalog.longTransaction(async () => {
    const record = await journal.begin(catalog.get<Publication>('publication_next', { id: newUuid() })!);
    try {
      await writes(record);
    } catch (error) {
      await record.close();
      throw error;
    }
    await record.seal();
  });
  await journal.settle(catalog);
}

/** The projects of a load and their workspaces may have been made otherwise: the journal has them with their facts. */
async function recordOwners(catalog: Catalog, record: JournalRecord, projects: Iterable<string>): Promise<void> {
  const rowOf = (table: EntityTable['name'], id: string): Row | undefined => {
    const { columns } = ENTITIES.find(({ name }) => name === table)!;
    const parts = { table, columns: identifiers(columns.map(({ name }) => name)) };
    // To its end: a statement that is left in the middle keeps its transaction open.
    return [...catalog.eachOfTemplate<Row>('state_of_id', parts, { id })][0];
  };
  const workspaces = new Set<string>();
  const owned: Row[] = [];
  for (const id of projects) {
    const row = rowOf('projects', id);
    if (row === undefined) continue;
    owned.push(row);
    workspaces.add(row['workspace_id'] as string);
  }
  for (const id of workspaces) await record.add({ upsert: 'workspaces', row: rowOf('workspaces', id)! });
  for (const row of owned) await record.add({ upsert: 'projects', row });
}

async function writeManifest(catalog: Catalog, record: JournalRecord, changes: readonly PartChange[]): Promise<void> {
  for (const { project, table, part, written } of changes) {
    if (written === null) {
      catalog.run('fact_file_delete', { project, table, part });
      await record.add({ gone: { project, table, part } });
    } else {
      catalog.run('fact_file_upsert', { project, table, part, ...written });
      await record.add({ file: { project, table, part, ...written } });
    }
  }
}

async function removeRows(
  session: Session,
  catalog: Catalog,
  record: JournalRecord,
  { name: table, key }: EntityTable,
): Promise<void> {
  const matches = key.map((name) => `"${name}" = $${name}`).join(' and ');
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  for (const row of removed) {
    catalog.runTemplate('delete_row', { table, matches }, row);
    await record.add({ remove: table, row });
  }
}

async function upsertRows(
  session: Session,
  catalog: Catalog,
  record: JournalRecord,
  shape: EntityTable,
): Promise<void> {
  const { name: table, columns, key } = shape;
  const names = columns.map(({ name }) => name);
  const parts = {
    table,
    columns: identifiers(names),
    values: names.map((name) => `$${name}`).join(', '),
    key: identifiers(key),
    updates: names.map((name) => `"${name}" = excluded."${name}"`).join(', '),
  };
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
    const rows = await session.rows<Row>(text, { after, limit: SLICE });
    for (const row of rows.map(derive)) {
      catalog.runTemplate('upsert', parts, row);
      await record.add({ upsert: table, row });
    }
    if (rows.length < SLICE) break;
  }
}
