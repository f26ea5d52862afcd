/** What the search engine tells of a page in its index: words and texts of the provider, which it may add to. */
export const INDEX_FIELDS = [
  'verdict',
  'coverageState',
  'robotsTxtState',
  'indexingState',
  'pageFetchState',
  'googleCanonical',
  'userCanonical',
  'crawledAs',
] as const;

/** The texts of an inspected page, by which pages can be filtered and sorted. */
export const INDEX_ROW_FIELDS = ['url', ...INDEX_FIELDS, 'lastCrawlTime', 'inspectedAt', 'since'] as const;

/** Null for what the provider leaves out. */
export type IndexState = { readonly [Field in (typeof INDEX_FIELDS)[number]]: string | null };

/** An answer of the provider about one page. */
export interface Inspection {
  readonly state: IndexState;
  /** ISO 8601, UTC. */
  readonly lastCrawlTime: string | null;
}

/** The verdict about a page that is in the index. */
export const INDEXED = 'PASS';

/** Whether a page belongs to a property, a domain or a prefix of addresses. */
export function belongsTo(property: string, url: string): boolean {
  if (!property.startsWith('sc-domain:')) return url.startsWith(property);
  const host = URL.parse(url)?.hostname;
  const domain = property.slice('sc-domain:'.length);
  return host === domain || host?.endsWith(`.${domain}`) === true;
}
