import type { Random } from '../../../test/random.ts';
import { readExport } from '../export.ts';

/** Clicks of pages by day. */
export interface Site {
  readonly pages: readonly Float64Array[];
  readonly days: number;
}

/** A generated page, with the mean that its clicks were drawn from. */
export interface GeneratedSite extends Site {
  readonly means: readonly Float64Array[];
}

const PAGES = 80;
const DAYS = 486;
/** How much of a page's wandering is left after a week. */
const MEMORY = 0.7;

/**
 * A site of pages from 2 to 3,000 clicks a day that have season, trend, weekdays and steps in common. Each page wanders by
 * itself: the logarithm of its level has the standard deviation `wander`, and memory from week to week.
 */
export function generateSite(draws: Random, wander: number): GeneratedSite {
  const amplitude = draws.uniform(0, 0.3);
  const phase = draws.uniform(0, 2 * Math.PI);
  const trend = draws.uniform(-0.3, 0.3);
  const weekdays = [1, 1.05, 1.04, 1.02, 0.95, 0.7, 0.75].map((share) => share * draws.uniform(0.95, 1.05));
  let level = 0;
  const common = Float64Array.from({ length: DAYS }, (_, day) => {
    if (draws.uniform(0, 1) < 1 / 80) level += 0.15 * draws.normal();
    const season = amplitude * Math.sin((2 * Math.PI * day) / 365 + phase) + (trend * day) / 365;
    return Math.exp(season + level) * weekdays[day % 7]!;
  });
  const means = Array.from({ length: PAGES }, () => {
    const size = 2 * Math.exp(draws.uniform(0, Math.log(1500)));
    const shock = Math.sqrt(1 - MEMORY ** 2) * wander;
    let from = wander * draws.normal();
    let to = from;
    return common.map((factor, day) => {
      if (day % 7 === 0) [from, to] = [to, MEMORY * to + shock * draws.normal()];
      return size * factor * Math.exp(from + ((to - from) * (day % 7)) / 7);
    });
  });
  return { days: DAYS, means, pages: means.map((days) => days.map((mean) => draws.poisson(mean))) };
}

/** Reads the pages of a bulk export, a Parquet file of the table by URL. */
export async function readSite(path: string): Promise<Site> {
  const [rows = []] = await readExport<[string, number, number]>(
    path,
    `with rows as (
       select url, cast(data_date as date) as date, sum(clicks) as clicks
       from read_parquet($path) where lower(search_type) = 'web' group by all
     )
     select url, cast(date_diff('day', (select min(date) from rows), date) as int), cast(clicks as double) from rows`,
  );
  const days = 1 + Math.max(...rows.map(([, day]) => day));
  const pages = new Map<string, Float64Array>();
  for (const [url, day, clicks] of rows) {
    const page = pages.get(url) ?? new Float64Array(days);
    page[day] = clicks;
    pages.set(url, page);
  }
  return { pages: [...pages.values()], days };
}
