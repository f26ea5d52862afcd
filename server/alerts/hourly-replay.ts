import type { Catalog } from '../catalog/catalog.ts';
import { filesOf } from '../catalog/manifest.ts';
import type { Project } from '../catalog/projects.ts';
import { listPartialDays, listUnusualDays, type PartialDay, type UnusualDay } from '../catalog/sync-days.ts';
import { readHoursUntil } from '../catalog/sync-projects.ts';
import { addDays, type Day, eachDay, pacificDayOf } from '../domain/dates.ts';
import { firstIncompleteHour, HOUR, type HourStart, hoursOf, hourText } from '../domain/hours.ts';
import type { Range } from '../domain/range.ts';
import { percentText } from '../domain/shown-numbers.ts';
import { siteHours } from '../facts/days.ts';
import type { Facts } from '../facts/facts.ts';
import type { StoredFile } from '../storage/file-store.ts';
import { type EvaluatedAlert, SITE_SUBJECT } from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import { HOURLY_LOOK_BACK, HourlyClicks, type HourlyStop, STOP_HOURS } from './hourly-stop.ts';
import {
  countTowardsEnd,
  countTowardsOpening,
  type Lifecycle,
  newState,
  open,
  type SubjectState,
} from './lifecycle.ts';
import { hourlyStopText } from './texts.ts';

const DAY = 24;
/** In hours. After a week, the stop is part of the weeks before. */
const LIFECYCLE: Lifecycle = { opensAfter: 2, resolvesAfter: 2, expiresAfter: 7 * DAY };
/** Days that are evaluated, of which the first only find alerts that may still be open afterwards. */
const REPLAYED_DAYS = 42;
const FIRST_DAYS = 8;

/** What the check of hours reads of a project. */
export interface HourlyInput {
  /** The first day of which alerts are known. */
  readonly covered: Day;
  /** The days of the evaluated hours. */
  readonly evaluated: Range;
  readonly read: Range;
  readonly files: readonly StoredFile[];
  readonly unusual: ReadonlyMap<Day, UnusualDay>;
  readonly partial: ReadonlyMap<Day, PartialDay>;
  readonly until: HourStart;
}

/** @param last the last day whose hours are evaluated */
export async function readHourlyInput(tx: Catalog, { id, provisionalAfter }: Project, last: Day): Promise<HourlyInput> {
  const evaluated = { from: addDays(last, -REPLAYED_DAYS), to: last };
  const read = { from: addDays(evaluated.from, -HOURLY_LOOK_BACK), to: last };
  return {
    covered: addDays(evaluated.from, FIRST_DAYS),
    evaluated,
    read,
    files: await filesOf(tx, id, 'site_hourly', read),
    unusual: await listUnusualDays(tx, id, 'site_hourly', read),
    partial: await listPartialDays(tx, id, read),
    until: firstIncompleteHour(await readHoursUntil(tx, id), provisionalAfter),
  };
}

/**
 * The alerts of the complete hours of a project, from `covered` on. All hours are evaluated each time: an alert is open for a
 * week at most, so that no state is needed.
 */
export async function replayHours(
  facts: Facts,
  { covered, evaluated, read, files, unusual, partial, until }: HourlyInput,
  { calendar, signal }: { calendar: AlertCalendar; signal: AbortSignal },
): Promise<EvaluatedAlert[]> {
  if (files.length === 0) return [];
  const rows = await siteHours(facts, { files, range: read, signal });
  const stored = new Set(rows.map(({ hour }) => pacificDayOf(hour / 1000)));
  for (const [day, { state }] of unusual) if (state === 'empty') stored.add(day);
  for (const [day, { isMissed }] of partial) if (isMissed) stored.delete(day);
  const clicks = new HourlyClicks(read, { rows, stored, until });
  const hours = eachDay(evaluated.from, evaluated.to)
    .flatMap(hoursOf)
    .filter((hour) => hour < until);
  return alertsOfHours(clicks, hours, calendar).filter(({ date }) => date >= covered);
}

/** The alerts of consecutive hours, evaluated in order. */
export function alertsOfHours(
  clicks: HourlyClicks,
  hours: readonly HourStart[],
  calendar: AlertCalendar,
): EvaluatedAlert[] {
  const alerts: EvaluatedAlert[] = [];
  let state: SubjectState<null> = newState();
  for (const hour of hours) {
    const result = clicks.stopAt(hour);
    if (state.open === null) {
      if (!countTowardsOpening(LIFECYCLE, state, result?.opens ?? false)) continue;
      open(state, hour / HOUR, null);
      alerts.push(alertOf(hour, result!, calendar));
      continue;
    }
    const reason = countTowardsEnd(LIFECYCLE, state.open, hour / HOUR, result?.isBack);
    if (reason === undefined) continue;
    const alert = alerts.at(-1)!;
    const why =
      reason === 'back' ? `${percentText(result!.clicks / result!.usual)} of the usual clicks are back` : NEW_LEVEL;
    alert.resolvedOn = pacificDayOf(hour);
    alert.body += calendar.resolved(calendar.indexOf(alert.resolvedOn), why);
    state = newState();
  }
  return alerts;
}

/** Why an alert resolves whose hours are as they were since. */
export const NEW_LEVEL = 'after 7 days this is the new level';

function alertOf(hour: HourStart, stop: HourlyStop, calendar: AlertCalendar): EvaluatedAlert {
  const date = pacificDayOf(hour);
  const { title, body } = hourlyStopText(stop, {
    from: hourText(hour - (STOP_HOURS - 1) * HOUR),
    to: hourText(hour + HOUR),
  });
  return {
    type: 'hourly_stop',
    subject: SITE_SUBJECT,
    // Two of one day are told apart by their hour.
    basis: hourText(hour),
    severity: 'critical',
    title,
    body: body + calendar.notesAbout(calendar.indexOf(date), null),
    date,
    keywordId: null,
    resolvedOn: null,
  };
}
