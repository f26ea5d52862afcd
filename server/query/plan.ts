import type { Catalog } from '../catalog/catalog.ts';
import { type Covered, filesOf, readCoverage } from '../catalog/fact-files.ts';
import type { Project } from '../catalog/projects.ts';
import type { Day } from '../domain/dates.ts';
import { type Range, spanOf, within } from '../domain/range.ts';
import type { FactsQuery } from '../facts/facts.ts';
import { type FactTable, monthsOf, siteTableOf } from '../model/tables.ts';
import { type KnownDaysPlan, planKnownDays } from './known-days.ts';
import { type Query, rangesIn, tableOf } from './query.ts';

type Files = FactsQuery['files'];

/** What to read for a query. */
export interface Plan {
  readonly query: Query;
  readonly table: FactTable;
  /** With the last synced and the last final day of the surface. */
  readonly project: Project;
  /** From the first stored day to the last synced one; null if there is none. */
  readonly stored: Range | null;
  readonly files: Files;
  /** Of the table with the totals of the rows. */
  readonly siteFiles: Files;
  readonly monthFiles: Files;
  /** Up to this day only totals of months are stored; null if all days are. */
  readonly monthlyThrough: Day | null;
  /** Null without a comparison. */
  readonly known: KnownDaysPlan | null;
}

/**
 * Plans what to read for a query.
 * @param project as its surface (`readProjectOf`)
 * @param coverage that of the project, if it was read already
 */
export async function plan(catalog: Catalog, project: Project, query: Query, coverage?: Covered): Promise<Plan> {
  const covered = coverage ?? (await readCoverage(catalog, project.id));
  const table = tableOf(query);
  const site = siteTableOf(table);
  const stored = storedDays(project, covered[site]?.firstDay);
  const { comparison, days } = query;
  const ranges = rangesIn(query);
  const span = days === 'all' ? spanOf(ranges) : stored && within(spanOf(ranges), stored.from, stored.to);
  const filesFor = (name: FactTable | undefined): Files | Promise<Files> =>
    span && name && project.syncedThrough !== null ? filesOf(catalog, project.id, name, span) : [];
  const months = monthsOf(table);
  const monthlyThrough = (months && covered[months]?.lastDay) ?? null;
  // In parallel, to wait only once for a remote database.
  const [files, siteFiles, monthFiles] = await Promise.all([
    filesFor(table),
    site === table ? [] : filesFor(site),
    monthlyThrough === null ? [] : filesFor(months),
  ]);
  return {
    query,
    table,
    project,
    stored,
    files,
    siteFiles: site === table ? files : siteFiles,
    monthFiles,
    monthlyThrough,
    known: comparison && (await planKnownDays(catalog, project, table, { ranges, coverage: covered })),
  };
}

/** From a project's first stored day to its last synced one; null if there is none. */
export function storedDays({ syncedThrough }: Pick<Project, 'syncedThrough'>, first: Day | undefined): Range | null {
  return first === undefined || syncedThrough === null ? null : { from: first, to: syncedThrough };
}
