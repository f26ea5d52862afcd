import { createOnce, type Submission } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { eachRowOfProject, findRow, findRowOfProject, removeRows, upsertRows } from '../catalog/entity-rows.ts';
import { raiseRevisions } from '../catalog/fact-files.ts';
import type { KeywordGap } from '../catalog/keywords.ts';
import { newShortId } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import type { LockOptions } from './change-facts.ts';
import type { JournalLine } from './journal.ts';
import { ChangedRows, type Row, recordOwners, tableOf } from './publish.ts';
import { whileNoLoadRuns } from './remove.ts';
import type { Stores } from './stores.ts';
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

/** A change of entities, in its transaction. */
export interface EntityChange {
  readonly tx: Catalog;
  /** Upserts complete rows by their keys. */
  readonly put: (table: Changeable, rows: readonly Row[]) => Promise<void>;
  /** Records unknown days of keywords (`catalog/keywords.ts`). */
  readonly recordGaps: (gaps: readonly KeywordGap[]) => void;
  /** Removes complete rows, and with them those that refer to them. */
  readonly remove: (table: Changeable, rows: readonly Row[]) => Promise<void>;
}

/**
 * Changes entities while no load runs, in one journaled transaction, and increments the revisions of the changed
 * projects. `changes` may also write rows to `tx` that the journal does not contain, such as connections.
 */
export function changeEntities<T>(
  stores: Stores,
  waiting: LockOptions,
  changes: (change: EntityChange) => Promise<T>,
): Promise<T> {
  return whileNoLoadRuns(stores, waiting, async (tx, record) => {
    const changed = new ChangedRows([]);
    const owners = new Set<string>();
    const lines: JournalLine[] = [];
    const result = await changes({
      tx,
      put: async (table, rows) => {
        for (const row of await upsertRows(tx, tableOf(schemaOf(table)), rows)) changed.note(table, row);
        for (const row of rows) {
          if (table === 'projects') owners.add(row['id'] as string);
          else {
            if (row['project_id'] === null) lines.push(await workspaceLine(tx, row['workspace_id'] as string));
            else owners.add(row['project_id'] as string);
            lines.push({ upsert: table, row });
          }
        }
      },
      recordGaps: (gaps) => lines.push(...gaps.map((unknown) => ({ unknown }))),
      remove: async (table, rows) => {
        const schema = schemaOf(table);
        const keys = rows.map((row) => Object.fromEntries(schema.key.map((name) => [name, row[name]!])));
        await removeRows(tx, tableOf(schema), keys);
        for (const row of rows) changed.note(table, row);
        lines.push(...keys.map((row) => ({ remove: table, row })));
      },
    });
    // The others refer to their project, so its row comes first.
    await recordOwners(tx, record, owners);
    for (const line of lines) await record.add(line);
    await raiseRevisions(tx, changed);
    return result;
  });
}

/** Like `changeEntities`, once for each form that is submitted. */
export function createEntities<T>(
  stores: Stores,
  waiting: LockOptions,
  submission: Submission | undefined,
  creates: (change: EntityChange) => Promise<T>,
): Promise<T> {
  return changeEntities(stores, waiting, (change) => createOnce(change.tx, submission, () => creates(change)));
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

/** A note may belong to a workspace that no load has journaled. */
async function workspaceLine(tx: Catalog, id: string): Promise<JournalLine> {
  return { upsert: 'workspaces', row: (await findRow<Row>(tx, tableOf(schemaOf('workspaces')), id))! };
}

function schemaOf(table: Changeable | 'workspaces'): EntityTable {
  return ENTITIES.find(({ name }) => name === table)!;
}
