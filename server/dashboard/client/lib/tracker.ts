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
  /** Of keywords that have a target page, by their ids: the page that should rank, and the one that does. */
  readonly targets: Readonly<Record<string, TargetPage>>;
}

export interface TargetPage {
  readonly target: string;
  /** The page with most impressions; null without any. */
  readonly ranking: string | null;
  readonly isSame: boolean;
}
