import type { Day, Range } from './types.ts';

/** `GET /app/api/projects/:id/tracker`: how many keywords rank where, and the average positions of groups. */
export interface Tracker {
  readonly range: Range;
  readonly days: readonly Day[];
  /** By position bands, and last those that do not rank. */
  readonly now: readonly number[];
  readonly before: readonly number[] | null;
  /** By day, the keywords of each band. */
  readonly distribution: readonly (readonly number[])[];
  readonly groups: readonly {
    readonly id: string;
    readonly keywords: number;
    readonly positions: readonly (number | null)[];
  }[];
  /** The wanted page by the id of a keyword. */
  readonly targets: Readonly<Record<string, string>>;
}
