import { AlertCalendar } from '../../server/alerts/calendar.ts';
import { StoredDays } from '../../server/alerts/stored-days.ts';
import { TrafficReplay } from '../../server/alerts/traffic-replay.ts';
import { addDays } from '../../server/domain/dates.ts';
import { seededRandom } from '../demo/random.ts';
import { worstWeek } from './count.ts';

const FIRST = '2024-01-01';
const DAYS = 62 + 365;
/** A drop is found if an alert opens within this many days. */
const FOUND_WITHIN = 14;

/** Clicks of a synthetic site: weekdays, a season, a slow drift, noise above the Poisson level, rare outliers. */
function siteOf(clicks: number, number: number): number[] {
  const uniform = seededRandom(`evidence ${clicks} ${number}`);
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform(1e-12, 1))) * Math.cos(uniform(0, 2 * Math.PI));
  const weekend = uniform(0.4, 1.1);
  const [season, phase] = [uniform(0, 0.25), uniform(0, 365)];
  const scatter = uniform(0.05, 0.15);
  let level = 0;
  return Array.from({ length: DAYS }, (_, day) => {
    level += normal() * 0.01;
    const weekday = day % 7 >= 5 ? weekend : 1;
    const wave = 1 + season * Math.sin((2 * Math.PI * (day + phase)) / 365);
    const outlier = uniform(0, 1) < 0.01 ? uniform(0.3, 2.5) : 1;
    const mean = clicks * weekday * wave * outlier * Math.exp(level + scatter * normal());
    return poisson(mean, uniform, normal);
  });
}

function poisson(mean: number, uniform: (low: number, high: number) => number, normal: () => number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()));
  const limit = Math.exp(-mean);
  let count = -1;
  for (let product = 1; product > limit; count++) product *= uniform(0, 1);
  return count;
}

/** Indexes of the days on which alerts about a site open. */
function openingDays(clicks: readonly number[]): number[] {
  const calendar = new AlertCalendar({ from: FIRST, to: addDays(FIRST, clicks.length - 1) }, [], []);
  const stored = new StoredDays(clicks.map(() => true));
  const traffic = new TrafficReplay({ clicks: Float64Array.from(clicks), stored }, calendar);
  for (let day = 0; day < clicks.length; day++) traffic.run(day);
  return traffic.alerts.map(({ date }) => calendar.placeOf(date));
}

/** False alerts per site and year, over some sites. */
export function falseAlarms(clicks: number, sites: number): { perYear: number; worstWeek: number } {
  const opened = Array.from({ length: sites }, (_, number) => openingDays(siteOf(clicks, number)));
  const total = opened.reduce((sum, days) => sum + days.length, 0);
  return { perYear: total / sites, worstWeek: Math.max(...opened.map(worstWeek)) };
}

/** The share of sites whose permanent drop is found. @param drop the share of clicks that is lost */
export function power(clicks: number, drop: number, sites: number): number {
  const found = Array.from({ length: sites }, (_, number) => {
    const uniform = seededRandom(`drop ${clicks} ${number}`);
    const from = Math.floor(uniform(120, 350));
    const dropped = siteOf(clicks, number).map((value, day) => {
      // Each click is lost at random.
      return day < from ? value : thinned(value, 1 - drop, uniform);
    });
    return openingDays(dropped).some((day) => day >= from && day < from + FOUND_WITHIN);
  });
  return found.filter(Boolean).length / sites;
}

function thinned(value: number, share: number, uniform: (low: number, high: number) => number): number {
  let kept = 0;
  for (let click = 0; click < value; click++) if (uniform(0, 1) < share) kept++;
  return kept;
}
