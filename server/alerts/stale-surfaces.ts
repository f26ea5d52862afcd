import type { SurfaceDays } from '../catalog/sync-days.ts';
import { addDays, type Day } from '../domain/dates.ts';
import { isStale } from '../domain/finality.ts';
import { STALE_AFTER_DAYS, SURFACES } from '../model/surfaces.ts';
import type { EvaluatedAlert } from './alert.ts';

/**
 * An alert for each surface that has reported no day for more than two weeks. Web is left out: its sync has alarms of its
 * own. Where web has stopped, too, they also tell about surfaces that end with it, or so shortly before it that they may only
 * have had no rows on the last days. A project that was imported once has none of these.
 * @param today the last day that is over
 */
export function alertsOfStaleSurfaces(surfaces: readonly SurfaceDays[], today: Day): EvaluatedAlert[] {
  const web = surfaces.find(({ surface }) => surface === 'web')?.lastDay;
  const basis = web !== undefined && isStale(web, today) ? web : today;
  return surfaces
    .filter(({ lastDay }) => isStale(lastDay, basis))
    .map(({ surface, lastDay }) => ({
      type: 'surface_stale',
      subject: surface,
      basis: lastDay,
      severity: 'warning',
      title: `${SURFACES[surface].label} has no days after ${lastDay}`,
      body: `The newest day of ${SURFACES[surface].label} is ${lastDay}, more than ${STALE_AFTER_DAYS} days ago. Later days are unknown, not zero. Test the connection of the project.`,
      date: addDays(lastDay, STALE_AFTER_DAYS + 1),
      keywordId: null,
      resolvedOn: null,
    }));
}

/** Why an alert about a stale surface has ended. @param basis the last day that the surface had when it opened */
export function staleEndedBecause(
  { subject, basis }: Pick<EvaluatedAlert, 'subject' | 'basis'>,
  surfaces: readonly SurfaceDays[],
): string {
  const lastDay = surfaces.find(({ surface }) => surface === subject)?.lastDay;
  if (lastDay === undefined) return 'its days were removed';
  if (lastDay < basis) return 'its last days were removed';
  return lastDay > basis ? 'it has newer days' : 'web has no days long after it either';
}
