/** A sitemap as the search engine knows it. Instants in ISO 8601, UTC, as the provider tells them; null for what it leaves out. */
export interface Sitemap {
  /** The address of the sitemap. */
  readonly path: string;
  /** A word of the provider, such as `sitemap`, `rssFeed` or `urlList`. */
  readonly type: string | null;
  /** It lists other sitemaps. */
  readonly isIndex: boolean;
  readonly lastSubmitted: string | null;
  readonly lastDownloaded: string | null;
  /** It has not been processed yet. */
  readonly isPending: boolean;
  readonly warnings: number;
  readonly errors: number;
  /** Pages in it; null where the provider counts none. Images, videos and news of these pages are not counted again. */
  readonly urls: number | null;
}
