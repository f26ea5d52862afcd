import type { Catalog } from '../catalog/catalog.ts';
import { upsertInto } from '../catalog/upsert.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Intent } from '../domain/intent.ts';
import type { Settings } from '../settings.ts';
import { ChangedEntities, type Row, raiseRevisions, recordOwners } from './publish.ts';
import { whileNoLoadRuns } from './remove.ts';
import { ENTITIES, identifiers } from './tables.ts';

/** The entities of a project that commands change without a load. */
type Table = 'projects' | 'keywords';

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

/** Puts a row, with all of its columns, in place of the one with its key. */
type Put = (table: Table, row: Row) => void;

/**
 * Changes entities while no load runs, in one transaction that is in the journal, and raises the revisions of the
 * projects that change. `changes` writes to `own` what the journal does not have, such as connections.
 */
export function changeEntities<T>(
  stores: { readonly settings: Settings; readonly catalog: Catalog },
  onWait: () => void,
  changes: (own: Catalog, put: Put) => Promise<T>,
): Promise<T> {
  return whileNoLoadRuns(stores, onWait, async (own, record) => {
    const changed = new ChangedEntities(own);
    const written: { upsert: Table; row: Row }[] = [];
    const result = await changes(own, (table, row) => {
      const { columns, key } = shapeOf(table);
      const names = columns.map(({ name }) => name);
      changed.note(table, row, () => upsertInto(own, table, names, key)(row));
      written.push({ upsert: table, row });
    });
    await recordOwners(own, record, changed.projects);
    for (const line of written) if (line.upsert !== 'projects') await record.add(line);
    raiseRevisions(own, new Set(), changed);
    return result;
  });
}

/** The row of a project, with the columns that `put` takes; undefined where there is none. */
export async function projectRow(own: Catalog, id: string): Promise<Row | undefined> {
  return [...own.eachOfTemplate<Row>('state_of_id', partsOf('projects'), { id })][0];
}

/** The rows of all keywords of a project, archived ones too. */
export async function keywordRows(own: Catalog, project: string): Promise<KeywordRow[]> {
  return [...own.eachOfTemplate<KeywordRow>('state_of_project', partsOf('keywords'), { project })];
}

function shapeOf(table: Table): (typeof ENTITIES)[number] {
  return ENTITIES.find(({ name }) => name === table)!;
}

function partsOf(table: Table): { table: Table; columns: string } {
  return { table, columns: identifiers(shapeOf(table).columns.map(({ name }) => name)) };
}
