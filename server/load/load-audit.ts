import { actorOf, recordAudit } from '../catalog/audit.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Removals } from './removals.ts';

/** Projects that an entry names. */
const MAX_NAMED = 20;

/** What the audit trail records of a load. */
export interface LoadAudit {
  /** A snapshot, or what was imported. */
  readonly source: string;
  /** Rows by table, of the whole load. */
  readonly rows: Readonly<Record<string, number>>;
  readonly removed: Removals;
}

/** Adds an entry for each workspace of a load, and one for each project that it removed. */
export async function recordLoad(
  own: Catalog,
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
    await recordAudit(own, { workspace, actor, action: 'data.loaded', subject: null, details });
  }
  for (const { id, workspace, property, facts } of removed.projects) {
    const details = { source, property, facts };
    await recordAudit(own, { workspace, actor, action: 'project.removed', subject: id, details });
  }
}
