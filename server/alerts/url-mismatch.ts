import type { MainPage } from './main-page.ts';

/** Days that the rule looks at. */
export const URL_MISMATCH_DAYS = 7;

const MIN_IMPRESSIONS = 10;

export interface UrlMismatch {
  readonly page: number;
  readonly opens: boolean;
}

/** Whether another page ranks for a keyword than the one that should. Undefined: none ranks clearly. */
export function urlMismatch(week: MainPage, target: number): UrlMismatch | undefined {
  if (week.page === undefined || week.impressions < MIN_IMPRESSIONS) return undefined;
  return { page: week.page, opens: week.page !== target };
}
