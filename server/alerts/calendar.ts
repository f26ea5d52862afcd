import { addDays, countDays, type Day } from '../domain/dates.ts';
import type { Measures } from '../domain/metrics.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import { resolvedText } from './texts.ts';

/** A note that an alert text may mention. */
export interface AlertNote {
  readonly from: Day;
  readonly to: Day;
  readonly category: string;
  readonly text: string;
  /** The keyword, for notes about one keyword. */
  readonly keywordId: string | null;
}

/** The days of a replay, indexed from 0, with provider events and notes. */
export class AlertCalendar {
  readonly range: Range;
  readonly length: number;
  /** Number of boundaries of provider events through each day. */
  readonly #edges: Int32Array;
  readonly #notes: readonly AlertNote[];

  /** @param range the days of the facts */
  constructor(range: Range, events: readonly ProviderEvent[], notes: readonly AlertNote[]) {
    this.range = range;
    this.length = Math.max(0, countDays(range.from, range.to));
    this.#notes = notes;
    const edges = new Int32Array(this.length + 1);
    for (const { kind, from, to, affects } of events) {
      if (!affects.includes('impressions') && !affects.includes('position')) continue;
      const after = this.indexOf(to) + 1;
      const marked = kind === 'span' ? [this.indexOf(from), after] : indexesBetween(this.indexOf(from), after);
      for (const index of marked) if (index >= 0 && index < this.length) edges[index + 1] = 1;
    }
    this.#edges = toPrefixSums(edges);
  }

  indexOf(day: Day): number {
    return countDays(this.range.from, day) - 1;
  }

  dayAt(index: number): Day {
    return addDays(this.range.from, index);
  }

  /** Days since 1970, comparable between replays. */
  dayNumber(index: number): number {
    return Date.parse(this.range.from) / 86_400_000 + index;
  }

  /** Whether a provider event changed how impressions or positions are counted within these days. */
  crossesEvent(from: number, to: number): boolean {
    return this.#edges[to + 1] !== this.#edges[from + 1];
  }

  /** Text with the notes about the week that ends on a day, or ''. */
  notesAbout(index: number, keywordId: string | null): string {
    const [from, to] = [this.dayAt(index - 6), this.dayAt(index)];
    const found = this.#notes.filter(
      (note) => note.from <= to && note.to >= from && (note.keywordId === null || note.keywordId === keywordId),
    );
    return found
      .map(({ category, text, ...note }) => {
        const days = note.from === note.to ? note.from : `${note.from} to ${note.to}`;
        return ` Noted (${category}, ${days}): ${text}`;
      })
      .join('');
  }

  resolved(index: number, why: string): string {
    return resolvedText(this.dayAt(index), why);
  }
}

function indexesBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Replaces each value by the sum of all up to it. */
export function toPrefixSums<Values extends Float64Array | Int32Array>(values: Values): Values {
  for (let at = 1; at < values.length; at++) values[at]! += values[at - 1]!;
  return values;
}

/** The stored days of a range, with a constant-time check for windows. Days are indexed from 0. */
export class StoredDays {
  readonly #missing: Int32Array;

  constructor(stored: ArrayLike<number | boolean>) {
    this.#missing = toPrefixSums(Int32Array.from([0, ...Array.from(stored, (is) => (is ? 0 : 1))]));
  }

  /** Whether all days of a window are stored, both ends included; days outside the range are not. */
  areWhole(from: number, to: number): boolean {
    if (from < 0 || to >= this.#missing.length - 1) return false;
    return this.#missing[to + 1] === this.#missing[from];
  }
}

/** Measures of one subject as prefix sums: entry n is the sum of the first n days. */
export interface DailySums {
  readonly clicks: ArrayLike<number>;
  readonly impressions: ArrayLike<number>;
  /** Zero-based positions. */
  readonly positions: ArrayLike<number>;
  readonly stored: StoredDays;
}

/** The measures of a window, both ends included; undefined if a day of it is not stored. */
export function windowMeasures(sums: DailySums, from: number, to: number): Measures | undefined {
  if (!sums.stored.areWhole(from, to)) return undefined;
  return {
    clicks: sums.clicks[to + 1]! - sums.clicks[from]!,
    impressions: sums.impressions[to + 1]! - sums.impressions[from]!,
    sumPosition: sums.positions[to + 1]! - sums.positions[from]!,
  };
}

/** The median; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
