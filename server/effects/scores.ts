import { addDays, type Day, WEEK } from '../domain/dates.ts';
import type { Range } from '../domain/range.ts';

export interface Question {
  /** The subject, then its controls. All have the same days. */
  readonly units: readonly Unit[];
  /** 1 for each day that is stored. */
  readonly stored: Uint8Array;
  /** The day of the change, as an index; it may lie after the last day. */
  readonly day: number;
  readonly lengths: WindowLengths;
}

/** A unit compared with what its controls made expect on a day. */
export interface Score {
  /** Index of the unit. */
  readonly unit: number;
  readonly day: number;
  /** Clicks before the day. */
  readonly clicks: number;
  /** The logarithm of clicks after the day as a multiple of what was expected. */
  readonly effect: number;
  /** Expected clicks after the day. */
  readonly expected: number;
  /** Variance of `effect` by counting alone. */
  readonly counting: number;
  /** Scatter of the unit, drawn towards the site's. */
  readonly scatter: number;
}

export interface Scores {
  /** The subject on the day of the change; undefined if its days have not all come, or it has too few clicks. */
  readonly subject: Score | undefined;
  /** Units and days on which nothing is known to have changed. */
  readonly placebos: readonly Score[];
  /** Number of controls on the day of the change. */
  readonly controls: number;
  /** Clicks and scatter of the subject before the change, or before the end of the data if the change lies after it. */
  readonly clicks: number;
  readonly scatter: number;
  /** How many variances of scatter the effects of placebos vary by, beyond counting. */
  readonly scatterFactor: number;
}

/** More placebos cost time and say no more. */
const MAX_PLACEBOS = 8000;

/** Part of the scatter of a week that is left in the mean of the windows. */
const LEFT_SCATTER = 0.35;
/** Variance by which growth differs between units at least, so that no unit decides what is expected. */
const UNIT_VARIANCE = 0.005;

/**
 * Compares the subject and its placebos with what controls make expect: each unit on the day of the change and on days
 * seven days apart before it. The expected growth of a unit is the mean of the logarithms of the growth of all other
 * controls, each weighted by how exactly it is known. Yields between days.
 */
export function* score(question: Question): Generator<void, Scores> {
  const { units, stored, day, lengths } = question;
  const end = stored.length;
  const reach = lengths.settle + lengths.after;
  const hasBefore = (at: number): boolean =>
    at >= lengths.before && at <= end && isStored(stored, at - lengths.before, at);
  const hasAll = (at: number): boolean => hasBefore(at) && at + reach <= end && isStored(stored, at, at + reach);

  const now = Math.min(day, end);
  const current = hasBefore(now) ? measureBefore(units, now, lengths, cleanAt(question, now, true)) : undefined;
  yield;
  const days: number[] = [];
  const measured: Before[] = [];
  const last = Math.min(day, end - reach);
  const step = STEP * Math.max(1, Math.ceil((units.length * (last - lengths.before)) / STEP / MAX_PLACEBOS));
  for (let at = last; at >= lengths.before; at -= step) {
    if (!hasAll(at)) continue;
    days.push(at);
    measured.push(at === day ? current! : measureBefore(units, at, lengths, cleanAt(question, at, false)));
    yield;
  }
  const common = commonScatter(measured, lengths);
  const all: Score[] = [];
  for (const [index, at] of days.entries()) {
    all.push(...scoresOn(question, at, measured[index]!, common));
    yield;
  }
  const isSubject = ({ unit, day: at }: Score): boolean => unit === 0 && at === day;
  const placebos = all.filter((one) => !isSubject(one));
  return {
    subject: all.find(isSubject),
    placebos,
    controls:
      current === undefined
        ? 0
        : current.clicks.reduce((count, clicks, unit) => count + (unit > 0 && clicks > 0 ? 1 : 0), 0),
    clicks: current?.clicks[0] ?? 0,
    scatter: ownScatter(current?.scatter[0] ?? 0, common, lengths),
    scatterFactor: factorOf(placebos),
  };
}

function isStored(stored: Uint8Array, from: number, to: number): boolean {
  for (let day = from; day < to; day++) if (stored[day] === 0) return false;
  return true;
}

/** Whether nothing was changed on a unit in the windows of a day. On the day of the change the subject is always used. */
function cleanAt({ day, lengths }: Question, at: number, isChange: boolean): (unit: Unit, index: number) => boolean {
  const [from, to] = [at - lengths.before, at + lengths.settle + lengths.after];
  return ({ changes }, index) => {
    if (index === 0 && isChange) return true;
    if (index === 0 && to > day) return false;
    return !changes.some((change) => change >= from && change < to);
  };
}

function scoresOn({ units, lengths }: Question, day: number, { clicks, scatter }: Before, common: number): Score[] {
  const [from, to] = [day + lengths.settle, day + lengths.settle + lengths.after];
  const after = Float64Array.from(units, (unit, index) => (clicks[index] === 0 ? 0 : clicksIn(unit, from, to)));
  const growth = after.map((counted, index) => Math.log((counted + 0.5) / (clicks[index]! + 0.5)));
  // A first mean, to know how exactly each growth is known.
  const [allAfter, allBefore] = [sumOfControls(after), sumOfControls(clicks)];
  const first = Math.log((allAfter + 0.5) / (allBefore + 0.5));
  const variance = (index: number, expected: number): number => 1 / (clicks[index]! + 0.5) + 1 / (expected + 0.5);
  const weights = clicks.map((counted, index) =>
    index === 0 || counted === 0
      ? 0
      : 1 / (variance(index, counted * Math.exp(first)) + 2 * LEFT_SCATTER * common + UNIT_VARIANCE),
  );
  const weight = weights.reduce((sum, one) => sum + one, 0);
  const weighted = weights.reduce((sum, one, index) => (one === 0 ? sum : sum + one * growth[index]!), 0);
  const scores: Score[] = [];
  for (const [unit, counted] of clicks.entries()) {
    const others = weight - weights[unit]!;
    if (counted === 0 || others <= weight * 1e-9) continue;
    const expectedGrowth = (weighted - (weights[unit] === 0 ? 0 : weights[unit]! * growth[unit]!)) / others;
    const expected = (counted + 0.5) * Math.exp(expectedGrowth);
    scores.push({
      unit,
      day,
      clicks: counted,
      effect: growth[unit]! - expectedGrowth,
      expected: Math.max(0, expected - 0.5),
      counting: 1 / (counted + 0.5) + 1 / (expected + 0.5),
      scatter: ownScatter(scatter[unit]!, common, lengths),
    });
  }
  return scores;
}

function sumOfControls(values: Float64Array): number {
  let sum = 0;
  for (let index = 1; index < values.length; index++) sum += values[index]!;
  return sum;
}

/** Fits by how many variances of scatter the effects of placebos vary beyond counting; outliers count as three deviations. */
function factorOf(placebos: readonly Score[]): number {
  let [beyond, scatters] = [0, 0];
  for (const { effect, counting, scatter } of placebos) {
    const usual = counting + LEFT_SCATTER * scatter + 0.01;
    const weight = 1 / (counting + 0.01) ** 2;
    beyond += weight * (Math.min(effect * effect, 9 * usual) - counting);
    scatters += weight * scatter;
  }
  return Math.max(0.1, beyond / (scatters || 1));
}

/** Fewer clicks before a change cannot show its effect: false alarms would be twice as frequent. */
export const MIN_CLICKS = 30;
/** Days between placebo dates. */
export const STEP = 7;

/** Clicks of pages or keywords that are judged together. */
export interface Unit {
  /** The sum of clicks of the days before each day: one more element than there are days. */
  readonly sums: Float64Array;
  /** The days on which something was changed on it, as indices. */
  readonly changes: readonly number[];
}

/** Adds up the clicks of days. */
export function unitOf(clicks: ArrayLike<number>, changes: readonly number[] = []): Unit {
  const sums = new Float64Array(clicks.length + 1);
  for (let day = 0; day < clicks.length; day++) sums[day + 1] = sums[day]! + clicks[day]!;
  return { sums, changes };
}

/** Clicks from one day (included) to another (excluded). */
export function clicksIn({ sums }: Unit, from: number, to: number): number {
  return sums[to]! - sums[from]!;
}

/** What the clicks of units were before a day, one element each; 0 clicks for units that are left out. */
interface Before {
  readonly clicks: Float64Array;
  /** Variance of weekly clicks (logarithm, relative to the controls) beyond what counting explains. */
  readonly scatter: Float64Array;
}

/**
 * Measures units in the window before a day. The weeks of all controls together say what was common; each counts by the
 * root of its clicks, so that no large one decides.
 * @param units the subject, then its controls
 * @param isUsed whether a unit can be used for this day
 */
function measureBefore(
  units: readonly Unit[],
  day: number,
  { before }: WindowLengths,
  isUsed: (unit: Unit, index: number) => boolean,
): Before {
  const clicks = new Float64Array(units.length);
  const scatter = new Float64Array(units.length);
  const weeks = Math.floor(before / WEEK);
  const first = day - weeks * WEEK;
  const week = (unit: Unit, at: number): number => clicksIn(unit, first + at * WEEK, first + (at + 1) * WEEK);
  const common = new Float64Array(weeks);
  let weights = 0;
  for (const [index, unit] of units.entries()) {
    const total = clicksIn(unit, day - before, day);
    if (total < MIN_CLICKS || !isUsed(unit, index)) continue;
    clicks[index] = total;
    if (index === 0) continue;
    const weight = Math.sqrt(total);
    weights += weight;
    for (let at = 0; at < weeks; at++) common[at]! += weight * Math.log(week(unit, at) + 0.5);
  }
  for (const [index, unit] of units.entries()) {
    if (clicks[index] === 0) continue;
    let [sum, squares, counting] = [0, 0, 0];
    for (let at = 0; at < weeks; at++) {
      const counted = week(unit, at);
      const residual = Math.log(counted + 0.5) - common[at]! / (weights || 1);
      sum += residual;
      squares += residual * residual;
      counting += 1 / (counted + 1);
    }
    scatter[index] = (squares - (sum * sum) / weeks) / (weeks - 1) - counting / weeks;
  }
  return { clicks, scatter };
}

/** The scatter of a site's units: the mean over all units and days, large units counting more, as theirs is measured better. */
function commonScatter(measured: readonly Before[], { before }: WindowLengths): number {
  let [sum, weights] = [0, 0];
  for (const { clicks, scatter } of measured) {
    for (let index = 1; index < clicks.length; index++) {
      if (clicks[index] === 0) continue;
      const weight = 1 / (before / WEEK / clicks[index]! + 0.01);
      sum += weight * scatter[index]!;
      weights += weight;
    }
  }
  return Math.max(MIN_SCATTER, sum / (weights || 1));
}

const MIN_SCATTER = 0.0005;
/** The scatter of few weeks is measured badly: the site's counts as much as this many weeks of the unit. */
const SITE_WEEKS = 20;

/** The scatter of a unit, drawn towards that of the site. */
function ownScatter(scatter: number, common: number, { before }: WindowLengths): number {
  const freedom = Math.floor(before / WEEK) - 1;
  return Math.max(MIN_SCATTER / 2, (freedom * scatter + SITE_WEEKS * common) / (freedom + SITE_WEEKS));
}

/** Fewer units cannot tell what is common from what is their own. */
const MIN_BUNDLES = 8;

/**
 * Puts controls together, as many in each as the subject has members, so that their sums scatter alike. Controls come
 * with most clicks first and are dealt out in turn, so that bundles have similar clicks.
 */
export function bundle(controls: readonly Unit[], members: number): readonly Unit[] {
  const size = Math.min(members, Math.floor(controls.length / MIN_BUNDLES));
  if (size <= 1) return controls;
  const count = Math.floor(controls.length / size);
  return Array.from({ length: count }, (_, first) => {
    const own = controls.filter((_unit, index) => index % count === first && index < count * size);
    const sums = new Float64Array(own[0]!.sums.length);
    for (const unit of own) for (const [day, sum] of unit.sums.entries()) sums[day]! += sum;
    return { sums, changes: own.flatMap(({ changes }) => changes) };
  });
}

/** The lengths of the windows around a change, in days. */
export interface WindowLengths {
  /** Days before the change, which say what was usual. */
  readonly before: number;
  /** Days from the change on that are left out, until search engines have noticed it. */
  readonly settle: number;
  /** Days after these, which are judged. */
  readonly after: number;
}

export interface Windows {
  readonly before: Range;
  /** Null for none. */
  readonly settle: Range | null;
  readonly after: Range;
}

/** The windows around a change: `before` ends the day before it, `settle` begins on it, and `after` follows. */
export function windowsOf(date: Day, { before, settle, after }: WindowLengths): Windows {
  const days = (first: number, count: number): Range => ({
    from: addDays(date, first),
    to: addDays(date, first + count - 1),
  });
  return {
    before: days(-before, before),
    settle: settle === 0 ? null : days(0, settle),
    after: days(settle, after),
  };
}
