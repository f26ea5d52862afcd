/** Search engines, in the order of responses. Only the first has search types; each other one is a surface of its own name. */
export const ENGINES = ['google', 'bing'] as const;
export type SearchEngine = (typeof ENGINES)[number];
export type OtherEngine = Exclude<SearchEngine, 'google'>;
export const OTHER_ENGINES = ENGINES.filter((engine): engine is OtherEngine => engine !== 'google');

interface SurfaceRules {
  readonly engine: SearchEngine;
  /** Its name in texts. */
  readonly label: string;
  /** Whether results are shown for queries: otherwise it has neither queries nor positions. */
  readonly hasQueries: boolean;
  /** Whether the engine tells devices. */
  readonly hasDevices: boolean;
  /** Whether its days have positions. */
  readonly hasDailyPositions: boolean;
}

const OF_QUERIES = { engine: 'google', hasQueries: true, hasDevices: true, hasDailyPositions: true } as const;
const OF_FEEDS = { engine: 'google', hasQueries: false, hasDailyPositions: false } as const;
/** Days of the site, and weeks of pages and queries. */
const OF_WEEKS = { hasQueries: true, hasDevices: false, hasDailyPositions: false } as const;

/** What is counted for itself, in the order of responses: a search type, or another engine. Surfaces are never added up. */
export const SURFACES = {
  web: { ...OF_QUERIES, label: 'Web search' },
  image: { ...OF_QUERIES, label: 'Image search' },
  video: { ...OF_QUERIES, label: 'Video search' },
  news: { ...OF_QUERIES, label: 'News search' },
  discover: { ...OF_FEEDS, label: 'Discover', hasDevices: false },
  googleNews: { ...OF_FEEDS, label: 'Google News', hasDevices: true },
  bing: { ...OF_WEEKS, engine: 'bing', label: 'Bing' },
} as const satisfies Readonly<Record<string, SurfaceRules>>;
export type Surface = keyof typeof SURFACES;
export const SURFACE_NAMES = Object.keys(SURFACES) as Surface[];

/** The search types of the first engine. */
export type SearchType = {
  [Name in Surface]: (typeof SURFACES)[Name]['engine'] extends 'google' ? Name : never;
}[Surface];
export type OtherType = Exclude<SearchType, 'web'>;
export const SEARCH_TYPES = SURFACE_NAMES.filter((name): name is SearchType => SURFACES[name].engine === 'google');
export const OTHER_TYPES = SEARCH_TYPES.filter((type): type is OtherType => type !== 'web');

/** Whether a surface is another engine than the first: its days and weeks are of all countries, and it does not say which may change. */
export function isOtherEngine(surface: Surface): surface is OtherEngine {
  return SURFACES[surface].engine !== 'google';
}

/** The search type of a surface; another engine has only results of web. */
export function typeOf(surface: Surface): SearchType {
  return isOtherEngine(surface) ? 'web' : surface;
}

/** A surface that has reported no day for longer than this many days is stale. */
export const STALE_AFTER_DAYS = 14;
