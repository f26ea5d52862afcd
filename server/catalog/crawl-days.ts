import { type CrawlDay, mergeCrawlDays } from '../domain/crawl.ts';
import type { Day } from '../domain/dates.ts';
import type { Microseconds } from '../domain/instants.ts';
import type { Catalog } from './catalog.ts';

/** Whose crawler days they are: they tell nothing of another property that a project had. */
interface CrawledProperty {
  readonly project: string;
  readonly property: string;
}

/** The stored days of the crawler, in order. */
export async function readCrawlDays(catalog: Catalog, of: CrawledProperty): Promise<CrawlDay[]> {
  const rows = await catalog.statements.all<{ day: Day; counts: string }>('crawl-days.of_property', { ...of });
  return rows.map(({ day: date, counts }) => ({ date, ...(JSON.parse(counts) as Omit<CrawlDay, 'date'>) }));
}

/**
 * Stores what a provider tells of the crawler now. Days that it no longer tells stay.
 * @param keptFrom earlier days are not kept; null for all
 * @param now microseconds
 */
export async function storeCrawlDays(
  catalog: Catalog,
  of: CrawledProperty,
  told: readonly CrawlDay[],
  { keptFrom, now }: { readonly keptFrom: Day | null; readonly now: Microseconds },
): Promise<void> {
  const stored = await readCrawlDays(catalog, of);
  const before = new Map(stored.map((day) => [day.date, JSON.stringify(day)]));
  const changed = mergeCrawlDays(stored, told, now / 1000).filter(
    (day) => (keptFrom === null || day.date >= keptFrom) && before.get(day.date) !== JSON.stringify(day),
  );
  if (changed.length === 0) return;
  const rows = changed.map(({ date: day, ...counts }) => ({ ...of, day, counts: JSON.stringify(counts) }));
  await catalog.transaction((tx) => tx.statements.runEach('crawl-days.put', rows));
}

export async function forgetCrawlDaysBefore(tx: Catalog, project: string, before: Day): Promise<void> {
  await tx.statements.run('crawl-days.forget_before', { project, before });
}
