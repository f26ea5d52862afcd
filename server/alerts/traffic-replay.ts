import { percentText, wholeText } from '../domain/shown-numbers.ts';
import { type EvaluatedAlert, SITE_SUBJECT } from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import type { StoredDays } from './daily-sums.ts';
import {
  countTowardsEnd,
  countTowardsOpening,
  type Lifecycle,
  newState,
  open,
  type SubjectState,
} from './lifecycle.ts';
import { trafficDropText } from './texts.ts';
import { TRAFFIC_DROP_DAYS, type TrafficDrop, trafficDrop, trafficIsBack, trafficRises } from './traffic-drop.ts';

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
