import { addDays, type Day, eachDay } from '../../server/domain/dates.ts';
import { hash } from '../../test/random.ts';
import type { Row } from '../tables.ts';

/** One load changes both projects, so that a mix of two states shows between them, too. */
export const PROJECTS = ['Soak1', 'Soak2'] as const;
export const FIRST_LAST_DAY = '2025-12-17';
const COUNTRIES = ['usa', 'gbr'];
const DEVICES = ['desktop', 'mobile', 'tablet'];

const numbered = (count: number, name: (number: string) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(String(index + 1).padStart(3, '0')));
export const keywordIds = (count: number): string[] => numbered(count, (number) => `Kw${number}`);

/** The tables: the columns of their keys, with all values. `rows`: keywords, queries and pages of a project. */
const tablesOf = (rows: number): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> => ({
  site_daily: { device: DEVICES },
  keyword_daily: { keyword_id: keywordIds(rows), device: DEVICES.slice(1) },
  query_daily: { query: numbered(rows, (number) => `word ${number}`), country: COUNTRIES },
  page_daily: { url: numbered(rows, (number) => `https://soak.example/${number}`), country: COUNTRIES },
  country_daily: { country: COUNTRIES },
});

export interface Sums {
  readonly clicks: number;
  readonly impressions: number;
}
type Fact = Sums & Row;

/** What is stored between two loads. */
export interface State {
  readonly number: number;
  readonly lastDay: Day;
  /** The version of each stored day: each has other numbers. */
  readonly versions: ReadonlyMap<Day, number>;
  /** Milliseconds: when an answer may show it for the first and for the last time. */
  readonly from: number;
  until: number;
}

/**
 * What the server must answer. Beside a load both states are right, the one before and the one after it, but never a mix of
 * them; and once an answer has shown the later one, no later request may see the earlier one.
 */
export class Truth {
  readonly rows: number;
  #seed: number;
  readonly #tables: ReturnType<typeof tablesOf>;
  readonly #facts = new Map<string, readonly Fact[]>();
  readonly #states: State[] = [];

  constructor(seed: number, rows: number) {
    this.#seed = seed;
    this.rows = rows;
    this.#tables = tablesOf(rows);
  }

  /** From now on it expects other numbers than those that are loaded. */
  plant(): void {
    this.#seed++;
  }

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

  /** A request has shown this state, or its load has ended. */
  seen({ number }: State): void {
    for (const state of this.#states.slice(0, number)) state.until = Math.min(state.until, performance.now());
  }

  /** The states that a request may show which was sent and answered at these times. */
  between(start: number, end: number): State[] {
    return this.#states.filter(({ from, until }) => from <= end && until >= start);
  }

  /** Sums of the last days of a state by the values of a column, or by date. */
  sums(
    state: State,
    [project, table, by]: readonly [project: string, table: string, by: string],
    days: number,
  ): Map<string, Sums> {
    const sums = new Map<string, Sums>();
    for (const day of eachDay(addDays(state.lastDay, 1 - days), state.lastDay)) {
      const version = state.versions.get(day);
      for (const fact of version === undefined ? [] : this.#factsOf(project, table, day, version)) {
        const key = by === 'date' ? day : String(fact[by]);
        const { clicks, impressions } = sums.get(key) ?? { clicks: 0, impressions: 0 };
        sums.set(key, { clicks: clicks + fact.clicks, impressions: impressions + fact.impressions });
      }
    }
    return sums;
  }

  /** The facts of some days, as a snapshot has them. */
  tables({ versions }: State, days: readonly Day[]): Record<string, Row[]> {
    const rowsOf = (table: string): Row[] =>
      PROJECTS.flatMap((project_id) =>
        days.flatMap((date) =>
          this.#factsOf(project_id, table, date, versions.get(date)!).map((fact) => ({ project_id, date, ...fact })),
        ),
      );
    return Object.fromEntries(Object.keys(this.#tables).map((table) => [table, rowsOf(table)]));
  }

  #factsOf(project: string, table: string, day: Day, version: number): readonly Fact[] {
    const name = [this.#seed, project, table, day, version].join('|');
    const known = this.#facts.get(name) ?? this.#make(name, table);
    this.#facts.set(name, known);
    return known;
  }

  #make(name: string, table: string): Fact[] {
    let keys: Readonly<Record<string, string>>[] = [{}];
    for (const [column, values] of Object.entries(this.#tables[table]!))
      keys = keys.flatMap((key) => values.map((value) => ({ ...key, [column]: value })));
    return keys.map((key) => {
      const dice = hash(`${name}|${Object.values(key).join('|')}`);
      const impressions = 20 + (dice % 400);
      const clicks = (dice >>> 10) % Math.floor(impressions / 4);
      return { ...key, clicks, impressions, sum_position: impressions };
    });
  }
}
