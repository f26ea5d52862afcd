import { percentText, wholeText } from '../domain/shown-numbers.ts';
import {
  countTowardsEnd,
  countTowardsOpening,
  type EvaluatedAlert,
  type Lifecycle,
  newState,
  open,
  SITE_SUBJECT,
  type SubjectState,
} from './alert.ts';
import { type AlertCalendar, median, type StoredDays, sum } from './calendar.ts';
import { trafficDropText } from './texts.ts';

export const TRAFFIC_LIFECYCLE: Lifecycle = { opensAfter: 2, resolvesAfter: 3, expiresAfter: 28 };

export interface SiteFacts {
  readonly clicks: Float64Array;
  readonly stored: StoredDays;
}

/** The state between two evaluations; plain data. */
export interface TrafficState extends SubjectState<number> {
  alert?: EvaluatedAlert;
}

/** Evaluates the traffic of a site day by day. */
export class TrafficReplay {
  /** Alerts that were open at the start or have opened since. */
  readonly alerts: EvaluatedAlert[] = [];
  readonly #site: SiteFacts;
  readonly #calendar: AlertCalendar;
  #state: TrafficState;

  constructor(site: SiteFacts, calendar: AlertCalendar, before: TrafficState = newState()) {
    this.#site = site;
    this.#calendar = calendar;
    this.#state = structuredClone(before);
    if (this.#state.alert) this.alerts.push(this.#state.alert);
  }

  /** Evaluates a day. Must be called for each day in order. */
  run(day: number): void {
    const result = this.#resultOf(day);
    const state = this.#state;
    if (state.open === null) {
      if (countTowardsOpening(TRAFFIC_LIFECYCLE, state, result?.opens ?? false)) this.#open(result!, day);
      return;
    }
    const usual = state.open.baseline;
    const alert = state.alert!;
    if (result !== undefined && alert.severity !== 'critical' && trafficRises(result, usual)) {
      alert.severity = 'critical';
      alert.body += ` Critical on ${this.#calendar.dayAt(day)}: ${wholeText(result.clicks)} clicks in the week.`;
    }
    const isBack = result && trafficIsBack(result, usual);
    const reason = countTowardsEnd(TRAFFIC_LIFECYCLE, state.open, this.#calendar.dayNumber(day), isBack);
    if (reason === undefined) return;
    const why =
      reason === 'back'
        ? `clicks are back at ${percentText(result!.clicks / usual)} of the usual week`
        : 'after 28 days this is the new level';
    alert.resolvedOn = this.#calendar.dayAt(day);
    alert.body += this.#calendar.resolved(day, why);
    this.#state = newState();
  }

  /** A copy of the current state. */
  state(): TrafficState {
    return structuredClone(this.#state);
  }

  #resultOf(day: number): TrafficDrop | undefined {
    const from = day - TRAFFIC_DROP_DAYS + 1;
    if (!this.#site.stored.areWhole(from, day)) return undefined;
    return trafficDrop(this.#site.clicks.subarray(from, day + 1));
  }

  #open(result: TrafficDrop, day: number): void {
    const date = this.#calendar.dayAt(day);
    const { title, body } = trafficDropText(result, date);
    const alert: EvaluatedAlert = {
      type: 'traffic_drop',
      subject: SITE_SUBJECT,
      basis: '',
      severity: result.isCritical ? 'critical' : 'warning',
      title,
      body: body + this.#calendar.notesAbout(day, null),
      date,
      keywordId: null,
      resolvedOn: null,
    };
    open(this.#state, this.#calendar.dayNumber(day), result.usual);
    this.#state.alert = alert;
    this.alerts.push(alert);
  }
}

/** Days that the check reads: the week that ends on the evaluated day, and the eight weeks before it. */
export const TRAFFIC_DROP_DAYS = 63;

const WEEKS = 8;
/** Minimum clicks of a usual week. */
const MIN_USUAL = 35;
const OPENS = { share: 0.8, z: -2.5 };
const CRITICAL = { share: 0.5, z: -3.5 };
/** The share of the usual week at which an alert may resolve. */
const BACK = 0.9;
/** Number of largest deviations to ignore: they come from the last drop, not from normal variation. */
const TRIMMED = 3;
/** Corrects the mean of squared deviations for the ignored ones. */
const TRIM_CORRECTION = 1.35;
/** Minimum relative error of a weekly level, regardless of its clicks. */
const LEVEL_ERROR = 0.06;

export interface TrafficDrop {
  /** Clicks of the last week. */
  readonly clicks: number;
  /** Clicks of the usual week: the median of the four before. */
  readonly usual: number;
  /** Difference from the usual week in standard deviations. */
  readonly z: number;
  readonly opens: boolean;
  readonly isCritical: boolean;
}

/**
 * Whether the clicks of a site in the last week are below the usual week by more than the normal variation.
 *
 * Clicks vary more than a Poisson process. `phi` is the dispersion factor, estimated from the deviations of the previous 56
 * days from the level of their week and the share of their weekday.
 * @param days clicks of `TRAFFIC_DROP_DAYS` days, oldest first
 */
export function trafficDrop(days: ArrayLike<number>): TrafficDrop {
  // Week 0 is the newest.
  const weeks = Array.from({ length: WEEKS + 1 }, (_, week) => weekOf(days, week));
  const totals = weeks.map(sum);
  const clicks = totals[0]!;
  const usual = median(totals.slice(1, 5));
  const phi = dispersion(weeks.slice(1), totals.slice(1));
  const variance = phi * Math.max(usual, 1) * (1 + Math.PI / 8) + (LEVEL_ERROR * usual) ** 2;
  const z = (clicks - usual) / Math.sqrt(variance);
  const isBelow = ({ share, z: maxZ }: typeof OPENS): boolean => clicks <= share * usual && z <= maxZ;
  const opens = usual >= MIN_USUAL && isBelow(OPENS);
  return { clicks, usual, z, opens, isCritical: opens && isBelow(CRITICAL) };
}

/** Whether an open alert becomes critical: clicks are at most half of the usual week at opening. */
function trafficRises({ clicks, z }: TrafficDrop, usualAtOpening: number): boolean {
  return clicks <= CRITICAL.share * usualAtOpening && z <= CRITICAL.z;
}

export function trafficIsBack({ clicks }: TrafficDrop, usualAtOpening: number): boolean {
  return clicks >= BACK * usualAtOpening;
}

function weekOf(days: ArrayLike<number>, week: number): number[] {
  const end = days.length - 7 * week;
  return Array.from({ length: 7 }, (_, day) => days[end - 7 + day]!);
}

function dispersion(weeks: readonly (readonly number[])[], totals: readonly number[]): number {
  const shares = Array.from({ length: 7 }, (_, day) =>
    median(weeks.map((week, index) => (totals[index]! === 0 ? 0 : week[day]! / totals[index]!))),
  );
  const total = sum(shares);
  const deviations = weeks.flatMap((week, index) => {
    const level = median(totals.slice(Math.max(0, index - 1), index + 2));
    return week.map((clicks, day) => {
      const expected = Math.max(0.5, total === 0 ? 0 : (level * shares[day]!) / total);
      return (clicks - expected) ** 2 / expected;
    });
  });
  const smallest = deviations.toSorted((a, b) => a - b).slice(0, deviations.length - TRIMMED);
  return Math.max(1, (TRIM_CORRECTION * sum(smallest)) / smallest.length);
}
