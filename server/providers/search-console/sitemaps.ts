import type { Sitemap } from '../../domain/sitemap.ts';
import { compareTexts } from '../../domain/texts.ts';
import { ProviderFailure } from '../failures.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the response of `sitemaps.list`, by address. Without sitemaps it has no `sitemap`. Counts are texts of digits,
 * because the API writes 64-bit integers so. Throws `ProviderFailure`.
 */
export function readSitemaps({ sitemap: listed = [] }: Fields): Sitemap[] {
  if (!Array.isArray(listed)) throw new ProviderFailure('broken', 'the response has sitemaps that are not a list');
  const sitemaps = listed.map((one: unknown) => readSitemap((one ?? {}) as Fields));
  return sitemaps.toSorted((a, b) => compareTexts(a.path, b.path));
}

function readSitemap(fields: Fields): Sitemap {
  const { path, type = null, isSitemapsIndex = false, isPending = false, contents = [] } = fields;
  const isRight =
    typeof path === 'string' &&
    (type === null || typeof type === 'string') &&
    typeof isSitemapsIndex === 'boolean' &&
    typeof isPending === 'boolean' &&
    Array.isArray(contents);
  if (!isRight) throw new ProviderFailure('broken', 'the response has a sitemap without its path or of another form');
  const pages = contents
    .map((content: unknown) => (content ?? {}) as Fields)
    .find((content) => content['type'] === 'web');
  return {
    path,
    type,
    isIndex: isSitemapsIndex,
    lastSubmitted: readInstant(fields, 'lastSubmitted'),
    lastDownloaded: readInstant(fields, 'lastDownloaded'),
    isPending,
    warnings: readCount(fields, 'warnings') ?? 0,
    errors: readCount(fields, 'errors') ?? 0,
    urls: pages === undefined ? null : readCount(pages, 'submitted'),
  };
}

function readCount(fields: Fields, name: string): number | null {
  const value = fields[name] ?? null;
  if (value === null) return null;
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
  throw new ProviderFailure('broken', `the response has a sitemap with ${name} that is not a count`);
}

function readInstant(fields: Fields, name: string): string | null {
  const value = fields[name] ?? null;
  if (value === null) return null;
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at))
    throw new ProviderFailure('broken', `the response has a sitemap with ${name} that is not a time`);
  return new Date(at).toISOString();
}
