import type { CrawlDay } from '../domain/crawl.ts';
import type { Day } from '../domain/dates.ts';
import type { Catalog } from './catalog.ts';

/** Whose crawler days they are: they tell nothing of another property that a project had. */
interface CrawledProperty {
  readonly project: string;
  readonly property: string;
}

/** The stored days of the crawler, in order. */
export async function readCrawlDays(catalog: Catalog, of: CrawledProperty): Promise<CrawlDay[]> {
  const rows = await catalog.statements.all<{ day: Day; counts: string }>('crawl_days', { ...of });
  return rows.map(({ day: date, counts }) => ({ date, ...(JSON.parse(counts) as Omit<CrawlDay, 'date'>) }));
}

/** Stores days of the crawler beside those of before, which stay where they are not among them. */
export async function putCrawlDays(catalog: Catalog, of: CrawledProperty, days: readonly CrawlDay[]): Promise<void> {
  const rows = days.map(({ date: day, ...counts }) => ({ ...of, day, counts: JSON.stringify(counts) }));
  await catalog.statements.runEach('crawl_day_put', rows);
}

export async function forgetCrawlDaysBefore(tx: Catalog, project: string, before: Day): Promise<void> {
  await tx.statements.run('crawl_days_forget_before', { project, before });
}
