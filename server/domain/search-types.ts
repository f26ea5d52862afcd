/** The search types of the provider, in the order of responses. Each is counted for itself. */
export const SEARCH_TYPES = ['web', 'image', 'video', 'news', 'discover', 'googleNews'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];
export type OtherType = Exclude<SearchType, 'web'>;

export const OTHER_TYPES = SEARCH_TYPES.filter((type): type is OtherType => type !== 'web');

/** Whether results of a type are shown for queries: otherwise it has neither queries nor positions. */
export function hasQueries(type: SearchType): boolean {
  return type !== 'discover' && type !== 'googleNews';
}

/** Whether the provider tells devices of a type. */
export function hasDevices(type: SearchType): boolean {
  return type !== 'discover';
}
