import { Type } from 'typebox';
import { filesOf } from '../catalog/fact-files.ts';
import { listPartialDays, listUnusualDays } from '../catalog/sync-days.ts';
import { readHoursUntil } from '../catalog/sync-projects.ts';
import { addDays, countDays, type Day, eachDay, pacificDayOf } from '../domain/dates.ts';
import { invalidRequest } from '../domain/errors.ts';
import {
  endOfPacificDay,
  firstIncompleteHour,
  HOUR,
  type HourStart,
  hoursOf,
  hourText,
  parseInstant,
  startOfPacificDay,
} from '../domain/hours.ts';
import { NOTHING, toMetrics } from '../domain/metrics.ts';
import type { Range } from '../domain/range.ts';
import { siteHours } from '../facts/days.ts';
import { dimension, MEASURED, table } from '../formats/table.ts';
import { type Row, rowSet } from '../query/rows.ts';
import { formatParameters, hourLimit, readParameters } from './parameters.ts';
import { projectPreset, projectReference } from './preset.ts';
import { metricsProperties, nullable, object, project } from './schemas.ts';

/** Days of one question. */
const MAX_DAYS = 62;
/** Days without `from`. */
const DEFAULT_DAYS = 7;

const parameters = {
  from: hourLimit(`The first hour: a Pacific day, or an instant; ${DEFAULT_DAYS - 1} days before \`to\` by default.`),
  to: hourLimit(
    `The last hour, inclusive: a Pacific day, or an instant; today by default. At most ${MAX_DAYS} Pacific days.`,
  ),
  ...formatParameters,
};

interface HoursQuery {
  /** Starts of the first and last hour that may be in the answer. */
  readonly first: HourStart;
  readonly last: HourStart;
  /** The Pacific days of both. */
  readonly days: Range;
}

const hour = Type.String({
  format: 'date-time',
  description: 'The start of an hour, in Pacific time; the offset tells the two hours apart that clocks show twice.',
});

const answer = object('HoursAnswer', {
  project,
  range: object('HoursRange', {
    from: hour,
    to: hour,
    provisionalAfter: nullable(hour, 'The last final hour; later hours may still change. Null before the first.'),
  }),
  hours: Type.Array(object('HourMetrics', { hour, ...metricsProperties })),
});

/** The property by hour. The provider counts hours and days separately, so hours are never added to days. */
export const hoursPreset = projectPreset({
  path: '/projects/:id/hours',
  operation: 'getHours',
  tag: 'Site',
  summary: 'The whole property by hour',
  description:
    'Hours are stored from the connection of the project on; the provider keeps ten days of them. A stored hour without data is zeros; hours of days that are not stored are left out. Days have 23 to 25 hours. The provider counts hours and days separately: hours are never added to days.',
  answer,
  content: 'The hours, in order.',
  examples: {
    200: '/projects/Proj1/hours?from=2026-03-08&to=2026-03-08T04:00:00-07:00',
    400: '/projects/Proj1/hours?from=2026-03-08T04',
  },
  parameters,
  parse: (sent, _project, now): HoursQuery => {
    const { from, to } = readParameters(parameters, sent);
    const last = lastHour(to ?? pacificDayOf(now));
    const lastDay = pacificDayOf(last);
    const first = firstHour(from ?? addDays(lastDay, 1 - DEFAULT_DAYS));
    if (first > last) {
      const [begin, end] = [from, to].map((limit) => parseInstant(limit ?? ''));
      throw invalidRequest(
        begin !== undefined && end !== undefined && begin <= end
          ? `from (${from}) and to (${to}) have no first minute of an hour between them.`
          : `from (${from}) is after to (${to ?? lastDay}).`,
      );
    }
    const days = { from: pacificDayOf(first), to: lastDay };
    const count = countDays(days.from, days.to);
    if (count > MAX_DAYS) {
      throw invalidRequest(`from and to have ${count} days between them; ask for at most ${MAX_DAYS} days of hours.`);
    }
    return { first, last, days };
  },
  plan: async (query, { catalog, project }) => ({
    query,
    project,
    files: await filesOf(catalog, project.id, 'site_hourly', query.days),
    unusual: await listUnusualDays(catalog, project.id, 'site_hourly', query.days),
    partial: await listPartialDays(catalog, project.id, query.days),
    until: await readHoursUntil(catalog, project.id),
  }),
  run: async ({ query, project, files, unusual, partial, until }, { facts }, { signal }) => {
    const { first, last, days } = query;
    const found = await siteHours(facts, { files, range: days, signal });
    const measures = new Map(found.map((row) => [row.hour / 1000, row]));
    const stored = new Set(found.map(({ hour }) => pacificDayOf(hour / 1000)));
    for (const [day, { state }] of unusual) if (state === 'empty') stored.add(day);
    const { provisionalAfter } = project;
    const complete = firstIncompleteHour(until, provisionalAfter);
    const newest = found.at(-1);
    const lastOf = new Map(found.map(({ hour }) => [pacificDayOf(hour / 1000), hour / 1000]));
    // An hour without a row was counted if it is complete, or if a later one of the same fetch has a row.
    const known = Math.max(complete - HOUR, newest === undefined ? 0 : newest.hour / 1000);
    const knownOf = (day: Day): HourStart => {
      const { isFollowed, isMissed } = partial.get(day) ?? {};
      if (isFollowed) return endOfPacificDay(day);
      return isMissed ? (lastOf.get(day) ?? 0) : known;
    };
    const rows = eachDay(days.from, days.to)
      .filter((day) => stored.has(day))
      .flatMap((day) => hoursOf(day).filter((start) => start <= knownOf(day)))
      .filter((start) => start >= first && start <= last)
      .map((start) => ({ hour: hourText(start), measures: measures.get(start) ?? NOTHING }));
    const answer = {
      project: projectReference(project),
      range: {
        from: hourText(first),
        to: hourText(last),
        provisionalAfter: complete === 0 ? null : hourText(complete - HOUR),
      },
      hours: rows.map(({ hour, measures: sums }) => ({ hour, ...toMetrics(sums) })),
    };
    return { answer, rows };
  },
  // One row per hour of the property.
  rows: ({ answer: { project, range }, rows }) =>
    table({
      head: { name: `${project.domain}-hours`, total: rows.length, range },
      columns: [dimension('hour'), ...MEASURED],
      sets: [rowSet(rows.map(({ hour, measures }): Row => ({ names: [hour], now: measures })))],
      isCompared: false,
    }),
});

/** The first hour that begins at an instant or later, or with a day. @param limit as checked by `hourLimit` */
function firstHour(limit: string): HourStart {
  const instant = parseInstant(limit);
  return instant === undefined ? startOfPacificDay(limit) : Math.ceil(instant / HOUR) * HOUR;
}

/** The last hour that begins at an instant or before, or on a day. */
function lastHour(limit: string): HourStart {
  const instant = parseInstant(limit);
  return instant === undefined ? endOfPacificDay(limit) - HOUR : Math.floor(instant / HOUR) * HOUR;
}
