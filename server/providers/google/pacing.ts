import { nextPacificMidnight, pacificDayOf } from '../../domain/dates.ts';
import type { Pacing } from '../pauses.ts';

/** Load quota is counted over ten minutes, and requests in between prolong it; quotas of a day end at Pacific midnight. */
export const GOOGLE_PACING: Pacing = {
  quotaPause: 900_000,
  ratePause: 60_000,
  dayOf: pacificDayOf,
  endOfDay: nextPacificMidnight,
};
