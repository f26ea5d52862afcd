/** Search engines, in the order of responses. */
export const ENGINES = ['google', 'bing'] as const;
export type SearchEngine = (typeof ENGINES)[number];

/** The tables of facts of Bing: the site by day, pages and queries by week. */
export const BING_TABLES = {
  site: 'site_daily_bing',
  pages: 'page_weekly_bing',
  queries: 'query_weekly_bing',
} as const;
export type BingTable = (typeof BING_TABLES)[keyof typeof BING_TABLES];
