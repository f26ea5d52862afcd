import type { Microseconds } from '../domain/instants.ts';
import type { Sitemap } from '../domain/sitemap.ts';
import type { Catalog } from './catalog.ts';

/** What is known of the sitemaps of a property. */
export interface StoredSitemaps {
  /** Null before they were read. */
  readonly sitemaps: readonly Sitemap[] | null;
  readonly fetchedAt: Microseconds | null;
  /** Why the last request failed, for users; null if it succeeded. */
  readonly reason: string | null;
}

/** Undefined if they were never asked for. */
export async function readSitemaps(
  catalog: Catalog,
  project: string,
  property: string,
): Promise<StoredSitemaps | undefined> {
  type Row = Omit<StoredSitemaps, 'sitemaps'> & { readonly sitemaps: string | null };
  const row = await catalog.statements.get<Row>('sitemaps.one', { project, property });
  return row && { ...row, sitemaps: row.sitemaps === null ? null : (JSON.parse(row.sitemaps) as Sitemap[]) };
}

/** Ids of connected projects whose sitemaps are due, those never read first. */
export async function listDueSitemaps(catalog: Catalog, now: Microseconds, limit: number): Promise<string[]> {
  const rows = await catalog.statements.all<{ id: string }>('sitemaps.due', { now, limit });
  return rows.map(({ id }) => id);
}

/** Stores the sitemaps of a property, or why they could not be read: then those of before stay. */
export async function putSitemaps(
  catalog: Catalog,
  project: string,
  property: string,
  { sitemaps, dueAt, ...state }: StoredSitemaps & { readonly dueAt: Microseconds },
): Promise<void> {
  const text = sitemaps && JSON.stringify(sitemaps);
  await catalog.statements.run('sitemaps.put', { project, property, sitemaps: text, dueAt, ...state });
}
