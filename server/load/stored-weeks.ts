import type { Catalog } from '../catalog/catalog.ts';
import { manifestOf } from '../catalog/fact-files.ts';
import { weekdayOf } from '../domain/dates.ts';
import { count, type Problem } from '../domain/problems.ts';
import { EVERY_DAY } from '../domain/range.ts';
import { replacedDays } from './part-files.ts';
import type { StagedPart } from './staged-parts.ts';
import type { FactTableSchema } from './tables.ts';

/** Rows that a problem shows. */
const MAX_SHOWN = 3;

/**
 * Refuses weeks that end on another weekday than stored weeks that stay: their days would be in two weeks, and count twice.
 * Stored weeks of a project and table end on one weekday, so that the first and last week of each file tell it.
 */
export async function checkStoredWeeks(
  catalog: Catalog,
  { name, day }: FactTableSchema,
  parts: readonly StagedPart[],
): Promise<Problem[]> {
  if (day !== 'week_end') return [];
  const found: object[] = [];
  for (const [project, replaced] of replacedDays(parts, name, undefined)) {
    const { firstDay: week } = parts.find((part) => part.project === project)!;
    const ends = (await manifestOf(catalog, project, name, EVERY_DAY)).flatMap(({ firstDay, lastDay }) => [
      firstDay,
      lastDay,
    ]);
    const stored = ends.find((end) => !replaced.has(end) && weekdayOf(end) !== weekdayOf(week));
    if (stored !== undefined) found.push({ project_id: project, week_end: week, stored });
  }
  if (found.length === 0) return [];
  const message = `the weeks of ${count(found.length, 'project')} end on another weekday than stored ones that stay, so that days would count twice; load all weeks, or remove the stored ones. The first:`;
  return [{ table: name, column: day, message, rows: found.slice(0, MAX_SHOWN) }];
}
