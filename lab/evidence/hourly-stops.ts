import { AlertCalendar } from '../../server/alerts/calendar.ts';
import { alertsOfHours, HOURLY_LOOK_BACK, HourlyClicks } from '../../server/alerts/hours.ts';
import { addDays, eachDay } from '../../server/domain/dates.ts';
import { endOfPacificDay, HOUR, type HourStart, hoursOf } from '../../server/domain/hours.ts';
import { Random } from '../../test/random.ts';
import { worstWeek } from './drops.ts';
import { siteOf } from './synthetic.ts';

const SIZES = [60, 200, 2_000, 20_000];
/** The share of clicks that a stop leaves. */
const LEFT = [0, 0.1, 0.2, 0.5];
const FIRST = '2025-01-01';
const YEAR = { from: addDays(FIRST, HOURLY_LOOK_BACK), to: addDays(FIRST, HOURLY_LOOK_BACK + 364) };
const READ = { from: FIRST, to: YEAR.to };
/** A stop is found when an alert opens within so many hours. */
const FOUND_WITHIN = 24;

/** Rows of a table: sites by clicks a day, false alerts a year, and how often and how soon stops are found. */
export function* hourlyStopRows(sites: number): Generator<string> {
  yield '| clicks a day | alerts a year | worst week | all clicks stop | 10 % are left | 20 % are left | 50 % are left |';
  yield '| --- | --- | --- | --- | --- | --- | --- |';
  for (const size of SIZES) {
    const usual = Array.from({ length: sites }, (_, site) => openings(hoursOfSite(size, `${site}`)));
    const alerts = usual.reduce((sum, { length }) => sum + length, 0);
    const stops = LEFT.map((left) => foundStops(size, sites, left)).join(' | ');
    yield `| ${size.toLocaleString('en')} | ${(alerts / sites).toFixed(2)} | ${Math.max(...usual.map((hours) => worstWeek(hours.map((hour) => hour / (24 * HOUR)))))} | ${stops} |`;
  }
}

/** Clicks by hour: the days of a synthetic site over a day's curve of its own, with scatter of each hour. */
function hoursOfSite(size: number, name: string): Map<HourStart, number> {
  const days = siteOf(size, name);
  const draws = new Random(`hours ${size} ${name}`);
  const [peak, depth] = [draws.uniform(0, 24), draws.uniform(0.3, 0.95)];
  const scatter = draws.uniform(0.1, 0.4);
  const clicks = new Map<HourStart, number>();
  for (const [index, day] of eachDay(READ.from, READ.to).entries()) {
    for (const [hour, start] of hoursOf(day).entries()) {
      const share = (1 + depth * Math.cos((2 * Math.PI * (hour - peak)) / 24)) / 24;
      clicks.set(start, draws.poisson(days[index]! * share * Math.exp(scatter * draws.normal())));
    }
  }
  return clicks;
}

/** The hours in which alerts open. */
function openings(clicks: ReadonlyMap<HourStart, number>): HourStart[] {
  const rows = [...clicks].map(([start, value]) => ({
    hour: start * 1000,
    clicks: value,
    impressions: 0,
    sumPosition: 0,
  }));
  const stored = new Set(eachDay(READ.from, READ.to));
  const sums = new HourlyClicks(READ, { rows, stored, until: endOfPacificDay(READ.to) });
  const hours = eachDay(YEAR.from, YEAR.to).flatMap(hoursOf);
  return alertsOfHours(sums, hours, new AlertCalendar(READ, [], [])).map(({ basis }) => Date.parse(basis));
}

/** How many stops of a day are found, and the median delay in hours. */
function foundStops(size: number, sites: number, left: number): string {
  const delays: number[] = [];
  for (let site = 0; site < sites; site++) {
    const draws = new Random(`stop ${size} ${site}`);
    const hours = eachDay(YEAR.from, YEAR.to).flatMap(hoursOf);
    const from = hours[Math.floor(draws.uniform(0, hours.length - FOUND_WITHIN))]!;
    const clicks = hoursOfSite(size, `${site}`);
    for (const [start, value] of clicks) {
      if (start >= from && start < from + FOUND_WITHIN * HOUR) clicks.set(start, draws.thinned(value, left));
    }
    const opened = openings(clicks).find((hour) => hour >= from && hour < from + FOUND_WITHIN * HOUR);
    if (opened !== undefined) delays.push((opened - from) / HOUR + 1);
  }
  const share = Math.round((100 * delays.length) / sites);
  const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)];
  return median === undefined ? `${share} %` : `${share} % after ${median} h`;
}
