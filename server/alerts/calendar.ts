import { addDays, countDays, type Day } from '../domain/dates.ts';
import type { ProviderEvent } from '../domain/provider-events.ts';
import type { Range } from '../domain/range.ts';
import { toPrefixSums } from './daily-sums.ts';
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
