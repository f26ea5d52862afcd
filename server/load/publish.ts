import type { SQLInputValue } from 'node:sqlite';
import type { Catalog } from '../catalog/catalog.ts';
import { upsertInto } from '../catalog/upsert.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { newUuid } from '../domain/ids.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { inTurns } from '../runtime/turns.ts';
import type { Journal, JournalRecord, LoadedTable, Publication } from './journal.ts';
import type { PartChange } from './new-files.ts';
import type { Carried } from './state.ts';
import { ENTITIES, type EntityTable, identifiers } from './tables.ts';

/** Rows that are read at a time. */
const SLICE = 10_000;

export type Row = Record<string, SQLInputValue>;

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
  { tables, replaced, named, alongside }: Carried & { readonly named: readonly string[]; readonly alongside?: Alongside },
  changes: readonly PartChange[],
  loaded: readonly LoadedTable[],
): Promise<void> {
  const touched = new Set([...changes.map(({ project }) => project), ...named]);
  await publishing(stores, async (own, record) => {
    const changed = new ChangedEntities(own);
    for (const shape of replaced.toReversed()) await removeRows(session, own, record, shape, changed);
    for (const shape of tables) await upsertRows(session, own, record, shape, changed);
    for (const id of (await alongside?.(own)) ?? []) changed.projects.add(id);
    await recordOwners(own, record, touched.union(changed.projects));
    await writeManifest(own, record, changes);
    for (const { project, table } of loaded) {
      own.run('loaded_table_add', { project, table });
      await record.add({ loaded: { project, table } });
    }
    raiseRevisions(own, new Set(changes.map(({ project }) => project)), changed);
  });
}

/** As `publish`, for files that were made from what is stored: the entities stay as they are. */
export async function publishFiles(stores: Stores, changes: readonly PartChange[]): Promise<void> {
  await publishing(stores, async (own, record) => {
    await writeManifest(own, record, changes);
    raiseRevisions(own, new Set(changes.map(({ project }) => project)), new ChangedEntities(own));
  });
}

/** One transaction, and the record of it: durable before the commit, and known as committed after it. */
export async function publishing<T>(
  { catalog, journal }: Stores,
  writes: (own: Catalog, record: JournalRecord) => Promise<T>,
): Promise<T> {
  const result = await catalog.longTransaction(async (own) => {
    await using record = await journal.begin(own.get<Publication>('publication_next', { id: newUuid() })!);
    const written = await writes(own, record);
    await record.seal();
    return written;
  });
  await journal.settle(catalog);
  return result;
}

export function raiseRevisions(own: Catalog, facts: ReadonlySet<string>, changed: ChangedEntities): void {
  if (facts.size + changed.projects.size + changed.workspaces.size === 0) return;
  const { value: revision } = own.get<{ value: number }>('revision_next')!;
  for (const id of changed.keywords) own.run('tracked_keywords_count', { id });
  for (const id of changed.projects) own.run('entities_changed', { id, revision });
  for (const id of changed.workspaces) own.run('entities_changed_of_workspace', { id, revision });
  for (const id of facts) own.run('facts_changed', { id, revision });
}

/** Whose cached answers a load outdates by its entities. A row that is what it was before does not count. */
export class ChangedEntities {
  readonly projects = new Set<string>();
  /** Projects whose keywords changed. */
  readonly keywords = new Set<string>();
  /** Workspaces whose plan has another history now. Nothing cached depends on the rest of them. */
  readonly workspaces = new Set<string>();
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Runs `write` for a row, and notes whom it changes. Alerts and notes are not cached. */
  note(table: EntityTable['name'], row: Row, write: () => number): void {
    const id = row['id'] as string;
    const history = table === 'workspaces' ? findWorkspace(this.#catalog, id)?.keywordHistoryDays : undefined;
    if (write() === 0 || table === 'alerts' || table === 'notes') return;
    if (table === 'workspaces') {
      if (history !== row['keyword_history_days']) this.workspaces.add(id);
      return;
    }
    const project = table === 'projects' ? id : (row['project_id'] as string);
    this.projects.add(project);
    if (table === 'keywords') this.keywords.add(project);
  }
}

/** The projects of a load and their workspaces may have been made otherwise: the journal has them with their facts. */
export async function recordOwners(catalog: Catalog, record: JournalRecord, projects: Iterable<string>): Promise<void> {
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
  changed: ChangedEntities,
): Promise<void> {
  const matches = key.map((name) => `"${name}" = $${name}`).join(' and ');
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  await inTurns(
    eachOf(removed, (row) =>
      changed.note(table, row, () => catalog.runTemplate('delete_row', { table, matches }, row)),
    ),
  );
  for (const row of removed) await record.add({ remove: table, row });
}

async function upsertRows(
  session: Session,
  catalog: Catalog,
  record: JournalRecord,
  shape: EntityTable,
  changed: ChangedEntities,
): Promise<void> {
  const { name: table, columns, key } = shape;
  const names = columns.map(({ name }) => name);
  const write = upsertInto(catalog, table, names, key);
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
    await inTurns(eachOf(rows, (row) => changed.note(table, row, () => write(row))));
    for (const row of rows) await record.add({ upsert: table, row });
    if (rows.length < SLICE) break;
  }
}

function* eachOf(rows: readonly Row[], write: (row: Row) => void): Generator<void, void> {
  for (const row of rows) {
    write(row);
    yield;
  }
}
