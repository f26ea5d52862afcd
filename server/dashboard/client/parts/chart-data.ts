import type { Day, Metric, Range } from '../lib/types.ts';

export interface ChartPoint {
  readonly date: Day;
  /** The last day of a week or month. */
  readonly to?: Day;
  /** Its days, where they do not follow each other. */
  readonly pieces?: readonly Range[];
  readonly value: number | null;
  /** `provisional`: it may still change; `partial`: the range has only a part of this week or month. */
  readonly mark?: 'provisional' | 'partial' | undefined;
}

/** A day or some days about which there is something to say. */
export interface Marker {
  readonly from: Day;
  readonly to: Day;
  readonly text: string;
  readonly kind: 'note' | 'event' | 'alert' | 'ranking';
  /** Where more is said about it. */
  readonly href?: string;
  /** A note whose effect can be asked for. */
  readonly note?: { readonly project: string; readonly id: string };
}

/** One more line, of the same days: another metric, or another subject. */
export interface ExtraLine {
  readonly name: string;
  readonly metric: Metric;
  readonly values: readonly (number | null)[];
  /** The other range, by the same places. */
  readonly compared?: readonly (number | null)[] | undefined;
}

/** A level to measure the line by. */
export interface Level {
  readonly name: string;
  readonly value: number;
}

/** A range of values by the places of the points. */
export interface Band {
  readonly name: string;
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
}

export interface ChartData {
  readonly metric: Metric;
  /** What the first line is about, if it has a name of its own besides the metric. */
  readonly lineName?: string;
  readonly points: readonly ChartPoint[];
  /** The other range in the same places; undefined where it has no such days. */
  readonly compared?: readonly (ChartPoint | undefined)[] | undefined;
  /** At most four. Each metric has an axis of its own. */
  readonly extra?: readonly ExtraLine[];
  readonly markers?: readonly Marker[];
  readonly levels?: readonly Level[];
  readonly band?: Band | undefined;
}
