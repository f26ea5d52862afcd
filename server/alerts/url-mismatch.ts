import type { MainPage } from './main-page.ts';

/** Days that the check reads. */
export const URL_MISMATCH_DAYS = 7;

const MIN_IMPRESSIONS = 10;

export interface UrlMismatch {
  readonly page: number;
  readonly opens: boolean;
}

/** Whether the main page of a keyword differs from its target page. Undefined without a main page. */
export function urlMismatch(week: MainPage, target: number): UrlMismatch | undefined {
  if (week.page === undefined || week.impressions < MIN_IMPRESSIONS) return undefined;
  return { page: week.page, opens: week.page !== target };
}
