import type { Compared, Day, Metrics } from './types.ts';

/** `GET /app/api/home`: what is open in all projects, how they are tagged, and what is new since an instant. */
export interface Home {
  /** The newest open ones. */
  readonly alerts: readonly {
    readonly id: string;
    readonly project: string;
    readonly kind: string;
    readonly severity: 'info' | 'warning' | 'critical';
    readonly title: string;
    readonly date: Day | null;
    readonly createdAt: string;
  }[];
  /** Of projects that have any alert. */
  readonly counts: readonly { readonly project: string; readonly open: number; readonly fresh: number }[];
  readonly tags: readonly { readonly project: string; readonly tag: string }[];
  /** Ids of projects that the member has marked. */
  readonly favourites: readonly string[];
  /** Notes that were written since. */
  readonly notes: number;
}

/** `GET /app/api/portfolio-totals`: the sums of all projects that match. */
export interface PortfolioTotals {
  readonly projects: number;
  readonly totals: Metrics & Compared;
}
