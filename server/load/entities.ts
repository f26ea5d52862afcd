import type { Catalog } from '../catalog/catalog.ts';
import { eachRowOfProject, findRow, findRowOfProject, removeRows, upsertRows } from '../catalog/entity-rows.ts';
import { countEdit, raiseRevisions } from '../catalog/fact-files.ts';
import { newShortId } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import { ChangedRows, type Row, tableOf } from './publish.ts';
import { ENTITIES, type EntityTable } from './tables.ts';

/** Entities that members and commands change without a load, in the order in which they refer to each other. */
const CHANGEABLE = ['projects', 'keywords', 'groups', 'group_members', 'page_groups', 'alert_rules', 'notes'] as const;
type Changeable = (typeof CHANGEABLE)[number];

/** A row of the catalog's keywords. */
export type KeywordRow = {
  readonly project_id: string;
  readonly id: string;
  readonly query: string;
  readonly source: 'suggested' | 'manual' | 'import';
  readonly tracked_since: Microseconds;
  readonly intent: Intent;
  /** 0 or 1. */
  readonly archived: number;
  readonly target_url?: string | null;
  /** A JSON array. */
  readonly tags?: string | null;
};

/** An edit of entities, in its transaction. */
export interface EntityEdit {
  readonly tx: Catalog;
  /** Upserts complete rows by their keys. */
  readonly put: (table: Changeable, rows: readonly Row[]) => Promise<void>;
  /** Removes complete rows, and with them those that refer to them. */
  readonly remove: (table: Changeable, rows: readonly Row[]) => Promise<void>;
}

/**
 * Edits entities in a transaction, that of the caller if there is one; increments the revisions of the changed projects, and
 * counts the edit, so that a load whose checks have read other rows checks again.
 */
export function editEntities<T>(catalog: Catalog, edits: (edit: EntityEdit) => Promise<T>): Promise<T> {
  return catalog.transaction(async (tx) => {
    const changed = new ChangedRows([]);
    const owners = { projects: new Set<string>(), workspaces: new Set<string>() };
    const countOwner = (table: Changeable, row: Row): void => {
      const project = row[table === 'projects' ? 'id' : 'project_id'] as string | null;
      if (project !== null) owners.projects.add(project);
      if (project === null || table === 'projects') owners.workspaces.add(row['workspace_id'] as string);
    };
    const result = await edits({
      tx,
      put: async (table, rows) => {
        for (const row of rows) countOwner(table, row);
        for (const row of await upsertRows(tx, tableOf(schemaOf(table)), rows)) changed.note(table, row);
      },
      remove: async (table, rows) => {
        const schema = schemaOf(table);
        const keys = rows.map((row) => Object.fromEntries(schema.key.map((name) => [name, row[name]!])));
        await removeRows(tx, tableOf(schema), keys);
        for (const row of rows) {
          countOwner(table, row);
          changed.note(table, row);
        }
      },
    });
    await countEdit(tx, owners);
    await raiseRevisions(tx, changed);
    return result;
  });
}

/** The complete row of an entity with an id that is unique over all projects; undefined if there is none. */
export async function entityRow(
  tx: Catalog,
  table: 'projects' | 'alert_rules' | 'notes',
  id: string,
): Promise<Row | undefined> {
  return findRow<Row>(tx, tableOf(schemaOf(table)), id);
}

/** The complete row of an entity with an id that is unique in its project; undefined if there is none. */
export async function entityRowOfProject<R extends Row = Row>(
  tx: Catalog,
  table: 'keywords' | 'groups' | 'page_groups',
  key: { readonly project: string; readonly id: string },
): Promise<R | undefined> {
  return findRowOfProject<R>(tx, tableOf(schemaOf(table)), key);
}

/** All rows of a project in a table of entities, keywords also where they are archived. */
export async function entityRows<R extends Row = Row>(
  tx: Catalog,
  table: Exclude<Changeable, 'projects'>,
  project: string,
): Promise<R[]> {
  const rows: R[] = [];
  for await (const more of eachRowOfProject<R>(tx, tableOf(schemaOf(table)), project)) rows.push(...more);
  return rows;
}

/** The queries that are not tracked yet (case-insensitive), once each, with ids not used in `before`. */
export function untrackedQueries(
  before: readonly KeywordRow[],
  queries: readonly string[],
  makeId: () => string = newShortId,
): { id: string; query: string }[] {
  const tracked = new Set(before.filter(({ archived }) => archived === 0).map(({ query }) => query.toLowerCase()));
  const ids = new Set(before.map(({ id }) => id));
  const added: { id: string; query: string }[] = [];
  for (const query of queries) {
    if (tracked.has(query.toLowerCase())) continue;
    tracked.add(query.toLowerCase());
    let id = makeId();
    while (ids.has(id)) id = makeId();
    ids.add(id);
    added.push({ id, query });
  }
  return added;
}

function schemaOf(table: Changeable): EntityTable {
  return ENTITIES.find(({ name }) => name === table)!;
}
