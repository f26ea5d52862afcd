import type { Catalog } from '../catalog/catalog.ts';
import { findAnyProject } from '../catalog/projects.ts';
import { type Day, earlier, later } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';
import type { StagedParts } from './staged-parts.ts';
import type { Carried } from './state.ts';

/** Rows loaded into one table. */
export interface TableSummary {
  readonly rows: number;
  readonly projects?: number;
  readonly firstDay?: Day;
  readonly lastDay?: Day;
}

/**
 * Summarises the tables of the snapshot.
 * @param entities rows by table
 */
export function summarise(entities: ReadonlyMap<string, number>, parts: StagedParts): Record<string, TableSummary> {
  const summary: Record<string, TableSummary> = {};
  for (const [name, rows] of entities) summary[name] = { rows };
  for (const [{ name }, all] of parts) {
    const [first] = all;
    summary[name] = {
      rows: all.reduce((rows, part) => rows + part.rows, 0),
      projects: new Set(all.map(({ project }) => project)).size,
      ...(first === undefined
        ? {}
        : {
            firstDay: all.map(({ firstDay }) => firstDay).reduce(earlier),
            lastDay: all.map(({ lastDay }) => lastDay).reduce(later),
          }),
    };
  }
  return summary;
}

/** Warns of facts after their project's `synced_through`, which most answers leave out. */
export async function syncWarnings(
  session: Session,
  catalog: Catalog,
  { tables }: Carried,
  parts: StagedParts,
): Promise<string[]> {
  const loaded = tables.some(({ name }) => name === 'projects')
    ? await session.rows<{ id: string; day: Day | null }>('select id, synced_through::varchar as day from new_projects')
    : [];
  const through = new Map(loaded.map(({ id, day }) => [id, day]));
  const lastDays = new Map<string, Day>();
  for (const all of parts.values()) {
    for (const { project, lastDay } of all) lastDays.set(project, later(lastDays.get(project) ?? lastDay, lastDay));
  }
  const warnings: string[] = [];
  for (const [project, lastDay] of lastDays) {
    const stored = through.has(project) ? undefined : await findAnyProject(catalog, project);
    const day = through.get(project) ?? stored?.syncedThrough ?? null;
    if (day === null) warnings.push(`Project ${project} has no synced_through, so its facts are not served yet.`);
    else if (day < lastDay) warnings.push(`Project ${project} has facts to ${lastDay} but synced_through is ${day}.`);
  }
  return warnings;
}
