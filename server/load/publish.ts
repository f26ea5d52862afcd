import type { SQLInputValue } from 'node:sqlite';
import type { Catalog } from '../catalog/catalog.ts';
import { estimateIntent } from '../domain/intent.ts';
import type { Session } from '../facts/engine.ts';
import { sqlTemplate } from '../sql.ts';
import type { PartChange } from './part-files.ts';
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

/**
 * Makes a load current, in one transaction: rows of entities, the manifest, and the revision of every project that is
 * touched. Readers see the state before it or the state after it.
 */
export async function publish(session: Session, catalog: Catalog, changes: readonly PartChange[]): Promise<void> {
  const touchedProjects = new Set(changes.map(({ project }) => project));
  for (const { id } of await session.rows<{ id: string }>('select id from named_projects')) touchedProjects.add(id);
  const touchedWorkspaces = await session.rows<{ id: string }>('select id from named_workspaces');

  await catalog.longTransaction(async () => {
    for (const shape of [...ENTITIES].reverse()) await removeRows(session, catalog, shape);
    for (const shape of ENTITIES) await upsertRows(session, catalog, shape);
    for (const { project, table, part, written } of changes) {
      if (written === null) catalog.run('fact_file_delete', { project, table, part });
      else catalog.run('fact_file_upsert', { project, table, part, ...written });
    }
    const { value: revision } = catalog.get<{ value: number }>('revision_next')!;
    for (const id of touchedProjects) catalog.run('revision_raise', { id, revision });
    for (const { id } of touchedWorkspaces) catalog.run('revision_raise_workspace', { id, revision });
  });
}

async function removeRows(session: Session, catalog: Catalog, { name: table, key }: EntityTable): Promise<void> {
  const matches = key.map((name) => `"${name}" = $${name}`).join(' and ');
  const removed = await session.rows<Row>(sqlTemplate('load/removed_keys', { table, key: identifiers(key) }));
  for (const row of removed) catalog.runTemplate('delete_row', { table, matches }, row);
}

async function upsertRows(session: Session, catalog: Catalog, shape: EntityTable): Promise<void> {
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
    for (const row of rows) catalog.runTemplate('upsert', parts, derive(row));
    if (rows.length < SLICE) break;
  }
}
