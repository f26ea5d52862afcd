import type { MainPage } from './main-page.ts';

/** Days that the check reads: the week that ends on the evaluated day, and the four weeks before it. */
export const URL_CHANGED_DAYS = 35;

const MIN_IMPRESSIONS = 10;
const MIN_IMPRESSIONS_BEFORE = 40;

export interface UrlChanged {
  /** The main page of the week; undefined if there is none or too few impressions. */
  readonly page: number | undefined;
  /** The main page of the weeks before. */
  readonly before: number | undefined;
  readonly opens: boolean;
}

/** Whether the main page of a keyword differs from that of the four weeks before. */
export function urlChanged(week: MainPage, before: MainPage): UrlChanged {
  const page = week.impressions >= MIN_IMPRESSIONS ? week.page : undefined;
  const old = before.impressions >= MIN_IMPRESSIONS_BEFORE ? before.page : undefined;
  return { page, before: old, opens: page !== undefined && old !== undefined && page !== old };
}
