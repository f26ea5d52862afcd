import {
  countTowardsEnd,
  countTowardsOpening,
  type EvaluatedAlert,
  type KeywordAlertType,
  newState,
  open,
  type SubjectState,
} from './alert.ts';
import type { AlertCalendar } from './calendar.ts';
import { KEYWORD_CHECKS, type KeywordBaseline, type KeywordCheck, type Spot } from './keyword-checks.ts';
import type { KeywordFacts } from './keyword-facts.ts';
import { groupedText } from './texts.ts';

/** More alerts than this per evaluation are grouped; `share` is of the tracked keywords. */
const MANY = { alerts: 10, share: 0.05 };

type Reason = 'back' | 'expired';

/** The state of a keyword for one check; plain data. */
export interface KeywordState extends SubjectState<KeywordBaseline> {
  /** The open alert, unless it is a grouped one. */
  alert?: EvaluatedAlert;
  /** It is part of a grouped alert and meets the condition to resolve. */
  isDone?: boolean;
}

/** An open grouped alert; plain data. */
export interface OpenGroup {
  readonly alert: EvaluatedAlert;
  readonly keywords: readonly string[];
}

/** The state between two evaluations, by type and keyword; plain data. */
export interface KeywordStates {
  readonly states: Readonly<Partial<Record<KeywordAlertType, Readonly<Record<string, KeywordState>>>>>;
  readonly groups: readonly OpenGroup[];
}

const NO_KEYWORD_STATES: KeywordStates = { states: {}, groups: [] };

/** The ids of keywords that have a state of a page check. */
export function keywordsWithPageAlerts({ states }: KeywordStates = NO_KEYWORD_STATES): ReadonlySet<string> {
  return new Set([...Object.keys(states.url_changed ?? {}), ...Object.keys(states.url_mismatch ?? {})]);
}

/** Evaluates the keyword checks day by day. */
export class KeywordReplay {
  /** Alerts that were open at the start or have opened since. */
  readonly alerts: EvaluatedAlert[] = [];
  readonly #facts: KeywordFacts;
  readonly #calendar: AlertCalendar;
  readonly #from: number;
  /** Bit mask of the checks whose condition holds, by day and keyword. */
  readonly #holds: Uint8Array;
  /** States that differ from the initial state, by check and keyword. */
  readonly #states = KEYWORD_CHECKS.map(() => new Map<number, KeywordState>());
  #groups: OpenGroup[];
  readonly #indexes: ReadonlyMap<string, number>;
  /** Number of checks with a state, by keyword. */
  readonly #active: Uint8Array;

  /** @param range indexes of the days to evaluate, both included */
  constructor(
    facts: KeywordFacts,
    calendar: AlertCalendar,
    { from, to }: { from: number; to: number },
    before: KeywordStates = NO_KEYWORD_STATES,
  ) {
    this.#facts = facts;
    this.#calendar = calendar;
    this.#from = from;
    this.#indexes = new Map(facts.keywords.map(({ id }, keyword) => [id, keyword]));
    this.#active = new Uint8Array(facts.keywords.length);
    for (const [check, { type }] of KEYWORD_CHECKS.entries()) {
      for (const [id, state] of Object.entries(structuredClone(before.states[type] ?? {}))) {
        const keyword = this.#indexes.get(id);
        if (keyword === undefined) continue;
        this.#setState(check, keyword, state);
        if (state.alert) this.alerts.push(state.alert);
      }
    }
    this.#groups = structuredClone([...before.groups]);
    this.alerts.push(...this.#groups.map(({ alert }) => alert));
    this.#holds = this.#evaluate(from, to);
  }

  /** Evaluates a day. Must be called for each day in order. */
  run(day: number): void {
    const { keywords } = this.#facts;
    const row = (day - this.#from) * keywords.length;
    const opening: { check: number; keyword: number }[] = [];
    for (let keyword = 0; keyword < keywords.length; keyword++) {
      const bits = this.#holds[row + keyword]!;
      if (bits === 0 && this.#active[keyword] === 0) continue;
      for (let check = 0; check < KEYWORD_CHECKS.length; check++) {
        if (this.#count(check, this.#spot(keyword, day), (bits & (1 << check)) !== 0)) opening.push({ check, keyword });
      }
    }
    this.#resolveGroups(day);
    if (opening.length > Math.max(MANY.alerts, MANY.share * keywords.length)) this.#openGroups(opening, day);
    else for (const { check, keyword } of opening) this.#openOne(check, keyword, day);
  }

  /** Keywords whose pages a text may mention. */
  keywordsToName(): string[] {
    const { keywords } = this.#facts;
    const pageBits = KEYWORD_CHECKS.reduce(
      (bits, { type }, check) => bits | (type.startsWith('url_') ? 1 << check : 0),
      0,
    );
    const named = new Uint8Array(keywords.length);
    for (let at = 0; at < this.#holds.length; at++) {
      if ((this.#holds[at]! & pageBits) !== 0) named[at % keywords.length] = 1;
    }
    return keywords.filter((_, keyword) => named[keyword] === 1 || this.#active[keyword]! > 0).map(({ id }) => id);
  }

  /** A copy of the current state. */
  states(): KeywordStates {
    const states = KEYWORD_CHECKS.map(({ type }, check) => [
      type,
      Object.fromEntries(
        [...this.#states[check]!].map(([keyword, state]) => [this.#facts.keywords[keyword]!.id, state]),
      ),
    ]);
    return structuredClone({ states: Object.fromEntries(states) as KeywordStates['states'], groups: this.#groups });
  }

  /** Loops over keywords first, to read each keyword's days in order: the data exceeds the processor's cache. */
  #evaluate(from: number, to: number): Uint8Array {
    const { keywords } = this.#facts;
    const holds = new Uint8Array(Math.max(0, to - from + 1) * keywords.length);
    for (let keyword = 0; keyword < keywords.length; keyword++) {
      // One object for all days: there are millions of them.
      const spot: { -readonly [K in keyof Spot]: Spot[K] } = this.#spot(keyword, from);
      for (let day = from; day <= to; day++) {
        spot.day = day;
        let bits = 0;
        for (let check = 0; check < KEYWORD_CHECKS.length; check++) {
          if (KEYWORD_CHECKS[check]!.holds(spot)) bits |= 1 << check;
        }
        holds[(day - from) * keywords.length + keyword] = bits;
      }
    }
    return holds;
  }

  /** Processes the result of one check. Returns whether to open an alert. */
  #count(check: number, spot: Spot, holds: boolean): boolean {
    const known = this.#states[check]!.get(spot.keyword);
    if (known === undefined && !holds) return false;
    const state: KeywordState = known ?? newState();
    if (state.open !== null) {
      if (state.isDone === true) return false;
      const { baseline } = state.open;
      const rule = KEYWORD_CHECKS[check]!;
      const reason = countTowardsEnd(rule, state.open, this.#calendar.dayNumber(spot.day), rule.isBack(spot, baseline));
      if (reason !== undefined) this.#end(check, spot, state, reason);
      return false;
    }
    const opens = countTowardsOpening(KEYWORD_CHECKS[check]!, state, holds);
    if (state.running === 0) this.#setState(check, spot.keyword, undefined);
    else if (known === undefined) this.#setState(check, spot.keyword, state);
    return opens;
  }

  #end(check: number, spot: Spot, state: KeywordState, reason: Reason): void {
    if (state.alert === undefined) {
      state.isDone = true;
      return;
    }
    const why = KEYWORD_CHECKS[check]!.resolvedBecause(spot, reason, state.open!.baseline);
    state.alert.resolvedOn = this.#calendar.dayAt(spot.day);
    state.alert.body += this.#calendar.resolved(spot.day, why);
    this.#setState(check, spot.keyword, undefined);
  }

  #openOne(check: number, keyword: number, day: number): void {
    const rule = KEYWORD_CHECKS[check]!;
    const spot = this.#spot(keyword, day);
    const { id, targetUrl } = this.#facts.keywords[keyword]!;
    const { title, body } = rule.text(spot);
    const alert: EvaluatedAlert = {
      type: rule.type,
      subject: id,
      basis: rule.type === 'url_mismatch' ? targetUrl! : '',
      severity: rule.severity,
      title,
      body: body + this.#calendar.notesAbout(day, id),
      date: this.#calendar.dayAt(day),
      keywordId: id,
      resolvedOn: null,
    };
    this.#open(check, spot).alert = alert;
    this.alerts.push(alert);
  }

  #openGroups(opening: readonly { check: number; keyword: number }[], day: number): void {
    for (const [check, members] of Map.groupBy(opening, (each) => each.check)) {
      const { type, severity } = KEYWORD_CHECKS[check]!;
      const keywords = members.map(({ keyword }) => this.#facts.keywords[keyword]!);
      for (const { keyword } of members) this.#open(check, this.#spot(keyword, day));
      const date = this.#calendar.dayAt(day);
      const { title, body } = groupedText(
        type,
        keywords.map(({ query }) => query),
        date,
      );
      const alert: EvaluatedAlert = {
        type,
        subject: `many ${date}`,
        basis: '',
        severity,
        title,
        body: body + this.#calendar.notesAbout(day, null),
        date,
        keywordId: null,
        resolvedOn: null,
      };
      this.#groups.push({ alert, keywords: keywords.map(({ id }) => id) });
      this.alerts.push(alert);
    }
  }

  /** Resolves a grouped alert when all its keywords meet the condition; untracked keywords count as resolved. */
  #resolveGroups(day: number): void {
    this.#groups = this.#groups.filter(({ alert, keywords }) => {
      const check = KEYWORD_CHECKS.findIndex(({ type }) => type === alert.type);
      const members = keywords.flatMap((id) => this.#indexes.get(id) ?? []);
      if (members.some((keyword) => this.#states[check]!.get(keyword)?.isDone !== true)) return true;
      for (const keyword of members) this.#setState(check, keyword, undefined);
      alert.resolvedOn = this.#calendar.dayAt(day);
      alert.body += this.#calendar.resolved(day, 'it is over for all of these keywords');
      return false;
    });
  }

  #open(check: number, spot: Spot): KeywordState {
    const state: KeywordState = newState();
    open(state, this.#calendar.dayNumber(spot.day), (KEYWORD_CHECKS[check] as KeywordCheck).baseline(spot));
    this.#setState(check, spot.keyword, state);
    return state;
  }

  #setState(check: number, keyword: number, state: KeywordState | undefined): void {
    const states = this.#states[check]!;
    const had = states.has(keyword);
    if (state === undefined) states.delete(keyword);
    else states.set(keyword, state);
    this.#active[keyword]! += Number(state !== undefined) - Number(had);
  }

  #spot(keyword: number, day: number): Spot {
    return { facts: this.#facts, calendar: this.#calendar, keyword, day };
  }
}
