import { countDays, type Day } from './dates.ts';
import { BING_TABLES } from './engines.ts';

/** The search types of the provider, in the order of responses. Each is counted for itself. */
export const SEARCH_TYPES = ['web', 'image', 'video', 'news', 'discover', 'googleNews'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];
export type OtherType = Exclude<SearchType, 'web'>;

export const OTHER_TYPES = SEARCH_TYPES.filter((type): type is OtherType => type !== 'web');

/** Whether results of a type are shown for queries: otherwise it has neither queries nor positions. */
export function hasQueries(type: SearchType): boolean {
  return type !== 'discover' && type !== 'googleNews';
}

/** What is counted for itself: a search type, or another search engine. */
export type Surface = SearchType | 'bing';

/** Whether days of a surface have positions. */
export function hasDailyPositions(surface: Surface): boolean {
  return surface !== 'bing' && hasQueries(surface);
}

/** Whether the provider tells devices of a type. */
export function hasDevices(type: SearchType): boolean {
  return type !== 'discover';
}

/** The tables of facts of the types other than web, which are like `site_daily` and `country_daily`. */
export const TYPE_TABLES = {
  image: { site: 'site_daily_image', country: 'country_daily_image' },
  video: { site: 'site_daily_video', country: 'country_daily_video' },
  news: { site: 'site_daily_news', country: 'country_daily_news' },
  discover: { site: 'site_daily_discover', country: 'country_daily_discover' },
  googleNews: { site: 'site_daily_google_news', country: 'country_daily_google_news' },
} as const satisfies Readonly<Record<OtherType, { readonly site: string; readonly country: string }>>;
export type TypeTable = (typeof TYPE_TABLES)[OtherType]['site' | 'country'];

/** All surfaces, in the order of responses. */
export const SURFACES: readonly Surface[] = [...SEARCH_TYPES, 'bing'];

/** The table with the totals of a surface by day. */
export function siteTable(surface: Surface) {
  if (surface === 'bing') return BING_TABLES.site;
  return surface === 'web' ? 'site_daily' : TYPE_TABLES[surface].site;
}

/** Names of surfaces in texts. */
export const SURFACE_NAMES: Readonly<Record<Surface, string>> = {
  web: 'Web search',
  image: 'Image search',
  video: 'Video search',
  news: 'News search',
  discover: 'Discover',
  googleNews: 'Google News',
  bing: 'Bing',
};

/** A surface that has reported no day for longer than this many days is stale. */
export const STALE_AFTER_DAYS = 14;

/** Whether a surface is stale. @param last its newest day */
export function isStale(last: Day, today: Day): boolean {
  return countDays(last, today) - 1 > STALE_AFTER_DAYS;
}
