import { addDays, countDays, type Day } from '../domain/dates.ts';
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
    const edges = new Uint8Array(this.length);
    for (const { kind, from, to, affects } of events) {
      if (!affects.includes('impressions') && !affects.includes('position')) continue;
      const after = this.placeOf(to) + 1;
      const marked = kind === 'span' ? [this.placeOf(from), after] : placesBetween(this.placeOf(from), after);
      for (const place of marked) if (place >= 0 && place < this.length) edges[place] = 1;
    }
    this.#edges = new Int32Array(this.length + 1);
    for (let place = 0; place < this.length; place++) this.#edges[place + 1] = this.#edges[place]! + edges[place]!;
  }

  placeOf(day: Day): number {
    return countDays(this.range.from, day) - 1;
  }

  dayAt(place: number): Day {
    return addDays(this.range.from, place);
  }

  /** Days since 1970, comparable between replays. */
  dayNumber(place: number): number {
    return Date.parse(this.range.from) / 86_400_000 + place;
  }

  /** Whether a provider event changed how impressions or positions are counted within these days. */
  crossesEvent(from: number, to: number): boolean {
    return this.#edges[to + 1] !== this.#edges[from + 1];
  }

  /** Text with the notes about the week that ends on a day, or ''. */
  notesAbout(place: number, keywordId: string | null): string {
    const [from, to] = [this.dayAt(place - 6), this.dayAt(place)];
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

  resolved(place: number, why: string): string {
    return resolvedText(this.dayAt(place), why);
  }
}

function placesBetween(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
