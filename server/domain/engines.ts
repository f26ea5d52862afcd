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

/**
 * The tables of facts of each engine's report about AI answers, by day and of pages in a range, and the column of what it
 * counts. Neither is a part of clicks or impressions, and the two cannot be compared.
 */
export const AI_TABLES = {
  google: { days: 'ai_daily', pages: 'ai_page_period', measure: 'ai_impressions' },
  bing: { days: 'citation_daily', pages: 'citation_page_period', measure: 'citations' },
} as const;
export type AiMeasure = (typeof AI_TABLES)[SearchEngine]['measure'];
export type AiTable = (typeof AI_TABLES)[SearchEngine]['days' | 'pages'];
