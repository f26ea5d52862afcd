import type { Catalog } from '../catalog/catalog.ts';
import { eachRowOfProject, findRow, upsertRows } from '../catalog/entity-rows.ts';
import { raiseRevisions } from '../catalog/revisions.ts';
import { newShortId } from '../domain/ids.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import { ChangedRows, type Row, recordOwners, tableOf } from './publish.ts';
import { whileNoLoadRuns } from './remove.ts';
import type { Stores } from './stores.ts';
import { ENTITIES, type EntityTable } from './tables.ts';

/** Entities that commands change without a load. */
type Changeable = 'projects' | 'keywords';

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
};

/** Upserts complete rows by their keys. */
type Put = (table: Changeable, rows: readonly Row[]) => Promise<void>;

/**
 * Changes entities while no load runs, in one journaled transaction, and increments the revisions of the changed
 * projects. `changes` may also write rows to `tx` that the journal does not contain, such as connections.
 */
export function changeEntities<T>(
  stores: Stores,
  onWait: () => void,
  changes: (tx: Catalog, put: Put) => Promise<T>,
): Promise<T> {
  return whileNoLoadRuns(stores, onWait, async (tx, record) => {
    const changed = new ChangedRows([]);
    const keywords: Row[] = [];
    const result = await changes(tx, async (table, rows) => {
      for (const row of await upsertRows(tx, tableOf(schemaOf(table)), rows)) changed.note(table, row);
      if (table === 'keywords') keywords.push(...rows);
    });
    // Keywords refer to their project, so its row comes first.
    await recordOwners(tx, record, changed.projects);
    for (const row of keywords) await record.add({ upsert: 'keywords', row });
    await raiseRevisions(tx, changed);
    return result;
  });
}

/** The row of a project with the columns that `put` requires. */
export async function projectRow(tx: Catalog, id: string): Promise<Row | undefined> {
  return findRow<Row>(tx, tableOf(schemaOf('projects')), id);
}

/** All keywords of a project, including archived ones. */
export async function keywordRows(tx: Catalog, project: string): Promise<KeywordRow[]> {
  const rows: KeywordRow[] = [];
  for await (const more of eachRowOfProject<KeywordRow>(tx, tableOf(schemaOf('keywords')), project)) rows.push(...more);
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
