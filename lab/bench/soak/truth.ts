import { addDays, type Day } from '../../../server/domain/dates.ts';
import { type Fact, factsOf, factTables, type Sizes, type Sums } from './facts.ts';

export interface Range {
  readonly from: Day;
  readonly to: Day;
}

/** What is stored between two loads. */
export interface State {
  readonly number: number;
  readonly lastDay: Day;
  /** The version of each stored day. */
  readonly versions: ReadonlyMap<Day, number>;
  /** Milliseconds: when an answer may show it for the first time. */
  readonly from: number;
  /** Milliseconds: when an answer may show it for the last time. */
  until: number;
}

export const NOTHING: Sums = { clicks: 0, impressions: 0, sum_position: 0 };

function plus(a: Sums, b: Sums): Sums {
  return {
    clicks: a.clicks + b.clicks,
    impressions: a.impressions + b.impressions,
    sum_position: a.sum_position + b.sum_position,
  };
}

/**
 * What the server must answer. Beside a load both states are right, the one before and the one after it, but never a
 * mix of them; and once an answer has shown the later one, no later request may see the earlier one.
 */
export class Truth {
  readonly sizes: Sizes;
  readonly #facts = new Map<string, readonly Fact[]>();
  #states: State[] = [];

  constructor(sizes: Sizes) {
    this.sizes = sizes;
  }

  /** The last state, which may not be stored yet. */
  get last(): State {
    return this.#states.at(-1)!;
  }

  /** Adds the state after a load that begins now: `days` get new numbers. */
  begin(days: readonly Day[]): State {
    const number = this.#states.length;
    const versions = new Map(this.#states.at(-1)?.versions);
    for (const day of days) versions.set(day, number);
    const lastDay = [...versions.keys()].reduce((last, day) => (day > last ? day : last));
    const state = { number, lastDay, versions, from: performance.now(), until: Number.POSITIVE_INFINITY };
    this.#states.push(state);
    return state;
  }

  /** The load of the last state has ended: no request that begins later may see an earlier one. */
  published(): void {
    this.seen(this.last);
  }

  /** A request has seen this state. */
  seen({ number }: State): void {
    const now = performance.now();
    for (const state of this.#states.slice(0, number)) state.until = Math.min(state.until, now);
    // Answers may have begun before a state ended; those take seconds, not minutes.
    this.#states = this.#states.map((state) =>
      state.until < now - 600_000 ? { ...state, versions: new Map() } : state,
    );
  }

  /** The states that a request may show which began and ended at these times. */
  between(start: number, end: number): State[] {
    return this.#states.filter(({ from, until }) => from <= end && until >= start);
  }

  facts(project: string, table: string, day: Day, version: number): readonly Fact[] {
    const name = `${project} ${table} ${day} ${version}`;
    const known = this.#facts.get(name) ?? factsOf(this.sizes, project, table, day, version);
    this.#facts.set(name, known);
    return known;
  }

  /** Sums by the values of a column, over a range. `only`: facts that count. */
  sums(
    state: State,
    { project, table, by }: { project: string; table: string; by: string },
    range: Range,
    only: (fact: Fact) => boolean = () => true,
  ): Map<string, Sums> {
    const sums = new Map<string, Sums>();
    for (const day of daysOf(range)) {
      const version = state.versions.get(day);
      if (version === undefined) continue;
      for (const fact of this.facts(project, table, day, version)) {
        if (!only(fact)) continue;
        const key = by === 'date' ? day : String(fact[by]);
        sums.set(key, plus(sums.get(key) ?? NOTHING, fact));
      }
    }
    return sums;
  }

  /** All rows of the given days, as a snapshot has them. */
  rows(state: State, project: string, table: string, days: readonly Day[]): object[] {
    return days.flatMap((date) =>
      this.facts(project, table, date, state.versions.get(date)!).map((fact) => ({
        project_id: project,
        date,
        ...fact,
      })),
    );
  }

  get tables(): string[] {
    return Object.keys(factTables(this.sizes));
  }
}

export function daysOf({ from, to }: Range): Day[] {
  const days: Day[] = [];
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day);
  return days;
}

export function total(sums: ReadonlyMap<string, Sums>): Sums {
  return [...sums.values()].reduce(plus, NOTHING);
}

/** The days of `period=Nd` in a state. */
export function period({ lastDay }: State, days: number): Range {
  return { from: addDays(lastDay, 1 - days), to: lastDay };
}
