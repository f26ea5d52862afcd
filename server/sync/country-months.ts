import { addDays, type Day, type Month, monthOf } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';

interface CountryInput {
  readonly project: string;
  /** Files of stored days of countries. */
  readonly stored: readonly string[];
  /** Files of days that were fetched, and those days. */
  readonly fetched: readonly string[];
  readonly replaced: readonly Day[];
  /** The last day that is to be in a month. */
  readonly through: Day;
  /** Whether all days of a month are there. */
  readonly isWhole: (month: Month) => boolean;
  /** Where the months are written. */
  readonly target: string;
}

/** Makes months of the days of countries that are old enough. Returns the months, and their days that had rows. */
export async function writeCountryMonths(
  session: Session,
  { project, stored, fetched, replaced, through, isWhole, target }: CountryInput,
): Promise<{ months: Month[]; days: Day[] }> {
  await session.runFile('sync/country_rows', {});
  if (stored.length > 0) await session.runFile('sync/country_rows_stored', { files: stored, through, replaced });
  if (fetched.length > 0) await session.runFile('sync/country_rows_fetched', { files: fetched });
  const days = (await session.rowsOfFile<{ day: Day }>('sync/country_days', {})).map(({ day }) => day);
  const months = [...new Set(days.map(monthOf))].filter(isWhole);
  if (months.length === 0) return { months, days: [] };
  const firstDays = months.map((month) => `${month}-01`);
  await session.runFile('sync/country_months', { project, months: firstDays, target });
  return { months, days: days.filter((day) => months.includes(monthOf(day))) };
}

/** The last day of the last whole month before a day. */
export function lastWholeMonthBefore(day: Day): Day {
  return addDays(`${monthOf(day)}-01`, -1);
}
