import { addDays, type Day, type Month, monthOf } from '../domain/dates.ts';
import type { Session } from '../facts/duckdb/engine.ts';

interface CountryInput {
  readonly project: string;
  /** Files of stored days of country_daily. */
  readonly stored: readonly string[];
  /** Files of fetched days. */
  readonly fetched: readonly string[];
  /** The fetched days. */
  readonly replaced: readonly Day[];
  /** The last day that may be moved to a month. */
  readonly through: Day;
  /** Whether all days of a month are available. */
  readonly isWhole: (month: Month) => boolean;
  /** The output file. */
  readonly target: string;
}

/** Aggregates old days of country_daily to months. Returns the months and their days with rows. */
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

/** The last day of the last complete month before a day. */
export function lastWholeMonthBefore(day: Day): Day {
  return addDays(`${monthOf(day)}-01`, -1);
}
