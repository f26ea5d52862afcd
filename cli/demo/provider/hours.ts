import type { Day } from '../../../server/domain/dates.ts';
import { HOUR, type HourStart, hoursOf } from '../../../server/domain/hours.ts';
import type { Timetable } from './days.ts';
import type { Measures, Search } from './searches.ts';

/** Demand by hour of the day, in Pacific time. */
const DEMAND = [2, 1, 1, 1, 2, 3, 5, 6, 6, 6, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 8, 7, 5, 3];

/** The first hour that may still change. @param now milliseconds */
export function firstIncompleteHour(now: number, { hourFinalAfterHours }: Timetable): HourStart {
  return Math.floor(now / HOUR - hourFinalAfterHours) * HOUR;
}

/** The newest hour with data. */
export function newestHour(now: number, { hourVisibleAfterHours }: Timetable): HourStart {
  return Math.floor(now / HOUR - hourVisibleAfterHours) * HOUR;
}

/** The parts of a search's measures in each hour of its day, in whole numbers that add up to them. Hours without any are left out. */
export function spreadOverHours(
  day: Day,
  { query, country, device }: Search,
  { clicks, impressions, positions }: Measures,
): [hour: HourStart, part: Measures][] {
  const hours = hoursOf(day);
  const weights = hours.map((_, index) => DEMAND[hourOfDay(index, hours.length)]!);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const phase = phaseOf(`${day} ${query} ${country} ${device}`);
  const found: [HourStart, Measures][] = [];
  let weight = 0;
  let before = 0;
  for (const [index, start] of hours.entries()) {
    weight += weights[index]!;
    const until = index === hours.length - 1 ? impressions : Math.floor((impressions * weight) / all + phase);
    const part = until - before;
    if (part > 0) {
      const clicked = (shown: number): number => Math.floor((clicks * shown) / impressions + ((phase * 7919) % 1));
      const measures = { clicks: clicked(until) - clicked(before), impressions: part };
      found.push([start, { ...measures, positions: (positions / impressions) * part }]);
    }
    before = until;
  }
  return found;
}

/** When clocks change, the hour of 2 o'clock is missing or that of 1 o'clock is there twice. */
function hourOfDay(index: number, length: number): number {
  return index < 2 ? index : index + 24 - length;
}

/** A number from 0 to 1 that depends on a text. */
function phaseOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return (hash >>> 0) / 4294967296;
}
