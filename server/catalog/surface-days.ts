import { type Day, earlier, later } from '../domain/dates.ts';
import { SURFACE_NAMES, type Surface } from '../model/surfaces.ts';
import { siteTable } from '../model/tables.ts';
import type { Catalog } from './catalog.ts';
import { readCoverage } from './manifest.ts';
import type { Project } from './projects.ts';
import { type LastDays, readLastDays } from './sync-days.ts';

/** A surface with stored days, and the last day that it has reported. */
export interface SurfaceDays {
  readonly surface: Surface;
  readonly lastDay: Day;
}

/**
 * The last day that a surface has reported, with rows or without; later ones are unknown, not zeros. Null if it has no day.
 * @param stored the last stored day of its site table
 * @param known what the sync knows of that table
 */
export function lastReportedDay(
  { syncedThrough }: Pick<Project, 'syncedThrough'>,
  stored: Day | undefined,
  known: LastDays | undefined,
): Day | null {
  const [first, ...more] = [stored, known?.reported].filter((day) => day != null);
  return first === undefined || syncedThrough === null ? null : earlier(syncedThrough, more.reduce(later, first));
}

/** The surfaces of a project that have stored days. */
export async function listSurfaceDays(
  catalog: Catalog,
  project: Pick<Project, 'id' | 'syncedThrough'>,
): Promise<SurfaceDays[]> {
  const coverage = await readCoverage(catalog, project.id);
  const days: SurfaceDays[] = [];
  for (const surface of SURFACE_NAMES) {
    const table = siteTable(surface);
    const stored = coverage[table]?.lastDay;
    if (stored === undefined) continue;
    const lastDay =
      surface === 'web'
        ? project.syncedThrough
        : lastReportedDay(project, stored, await readLastDays(catalog, project.id, table));
    if (lastDay !== null) days.push({ surface, lastDay });
  }
  return days;
}
