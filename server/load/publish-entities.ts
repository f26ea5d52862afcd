import { actorOf, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { findRow, removeRows, upsertRows } from '../catalog/entity-rows.ts';
import { findWorkspace } from '../catalog/workspaces.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import { sqlTemplate } from '../runtime/sql.ts';
import { type ChangedRows, type Publishing, type Row, tableOf } from './publish.ts';
import type { Removals } from './removals.ts';
import type { Carried } from './state.ts';
import { type EntityTable, identifiers } from './tables.ts';

/** Projects that an entry names. */
const MAX_NAMED = 20;

/** Rows read at a time. */
const SLICE = 10_000;

/** Defaults that depend on other columns. */
const DERIVED: Partial<Record<EntityTable['name'], (row: Row) => Row>> = {
  projects: (row) => ({
    ...row,
    sync_status: row['sync_status'] ?? (row['synced_through'] === null ? 'pending' : 'ok'),
  }),
  keywords: (row) => ({ ...row, intent: row['intent'] ?? estimateIntent(row['query'] as string) }),
};

interface StagedEntities {
  readonly firstRows: ReadonlyMap<EntityTable, readonly Row[]>;
  /** The columns of projects that exist which stay as they are. */
  readonly kept: readonly string[];
}

/**
 * Writes the staged entity rows of a load, and removes those that it replaces. Records have only removed workspaces and
 * projects of it: a copy of the catalog keeps the rest.
 */
export async function publishEntities(
  session: Session,
  publishing: Publishing,
  { tables, replaced }: Carried,
  { firstRows, kept }: StagedEntities,
): Promise<void> {
  for (const schema of replaced.toReversed()) await removeStaged(session, publishing, schema);
  for (const schema of tables) {
    await writeStaged(session, publishing, schema, {
      firstRows: firstRows.get(schema)!,
      kept: schema.name === 'projects' ? kept : [],
    });
  }
}

/** The first staged rows of each table, which are mostly all: to read them before the transaction that publishes them. */
export async function readFirstRows(session: Session, { tables }: Carried): Promise<Map<EntityTable, readonly Row[]>> {
  const firstRows = new Map<EntityTable, readonly Row[]>();
  for (const schema of tables) firstRows.set(schema, await readSlice(session, schema, 0));
  return firstRows;
}

async function removeStaged(session: Session, { tx, record, changed }: Publishing, schema: EntityTable): Promise<void> {
  const { name: table, key } = schema;
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  for (const row of await removeRows(tx, tableOf(schema), removed)) changed.note(table, row);
  // What belongs to it goes with it, also facts.
  if (table === 'workspaces' || table === 'projects')
    for (const row of removed) await record.add({ remove: table, row });
}

async function writeStaged(
  session: Session,
  { tx, changed }: Publishing,
  schema: EntityTable,
  { firstRows, kept }: { readonly firstRows: readonly Row[]; readonly kept: readonly string[] },
): Promise<void> {
  const { name: table } = schema;
  for (let first = 0; ; first += SLICE) {
    const staged = first === 0 ? firstRows : await readSlice(session, schema, first);
    const rows = kept.length === 0 ? staged : await withStored(tx, schema, staged, kept);
    if (table === 'workspaces') await noteHistories(tx, rows, changed);
    for (const row of await upsertRows(tx, tableOf(schema), rows)) changed.note(table, row);
    if (rows.length < SLICE) break;
  }
}

/** Rows with the values that columns of them have in the catalog. */
async function withStored(tx: Catalog, schema: EntityTable, rows: readonly Row[], columns: readonly string[]) {
  const kept: Row[] = [];
  for (const row of rows) {
    const stored = await findRow<Row>(tx, tableOf(schema), row['id'] as string);
    kept.push(
      stored === undefined ? row : { ...row, ...Object.fromEntries(columns.map((name) => [name, stored[name]!])) },
    );
  }
  return kept;
}

async function readSlice(session: Session, { name: table, columns }: EntityTable, first: number): Promise<Row[]> {
  // The catalog stores days as text and booleans as 0 or 1.
  const selected = columns.map(({ name, type }) =>
    type.sql === 'date'
      ? `"${name}"::varchar as "${name}"`
      : type.sql === 'boolean'
        ? `"${name}"::integer as "${name}"`
        : `"${name}"`,
  );
  const derive = DERIVED[table] ?? ((row: Row) => row);
  const slice = { table, columns: selected.join(', '), first: String(first), end: String(first + SLICE) };
  return (await session.rows<Row>(sqlTemplate('load/table_rows', slice))).map(derive);
}

/** Records workspaces whose keyword history changes. Nothing cached depends on their other columns. */
async function noteHistories(tx: Catalog, rows: readonly Row[], changed: ChangedRows): Promise<void> {
  for (const { id, keyword_history_days: days } of rows) {
    const before = await findWorkspace(tx, id as string);
    if (before?.keywordHistoryDays !== days) changed.workspaces.add(id as string);
  }
}

/** A load in the audit trail. */
interface LoadAudit {
  /** A snapshot or an import. */
  readonly source: string;
  /** Rows by table, of the whole load. */
  readonly rows: Readonly<Record<string, number>>;
  readonly removed: Removals;
}

/** Adds an entry for each workspace of a load, and one for each project that it removed. */
export async function recordLoad(
  tx: Catalog,
  { source, rows, removed }: LoadAudit,
  projects: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const actor = actorOf(null);
  const removedRows = Object.entries(removed.rows).map(([table, { rows: count }]) => [table, count] as const);
  for (const [workspace, ids] of projects) {
    const details = {
      source,
      projects: ids.slice(0, MAX_NAMED),
      ...(ids.length > MAX_NAMED ? { moreProjects: ids.length - MAX_NAMED } : {}),
      rows,
      ...(removedRows.length > 0 ? { removed: Object.fromEntries(removedRows) } : {}),
    };
    await recordAudit(tx, { workspace, actor, action: 'data.loaded', subject: null, details });
  }
  for (const { id, workspace, property, facts } of removed.projects) {
    const details = { source, property, facts };
    await recordAudit(tx, { workspace, actor, action: 'project.removed', subject: id, details });
  }
}
