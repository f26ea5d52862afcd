import { join } from 'node:path';
import { allEnded } from '../../server/runtime/promises.ts';
import type { Calendar } from './calendar.ts';
import type { World } from './entities.ts';
import type { Site } from './site.ts';

/** Runs a SQL file of sql/demo (without folder and extension) with bound parameters, beside other ones. */
export type RunSql = (name: string, parameters: Readonly<Record<string, string | number>>) => Promise<void>;

const SEED = 'ordinate demo';

/**
 * Computes the fact tables inside DuckDB and writes them into `folder`, from the day `first` on. The rows of a day are the
 * same whatever the first day is. Files of sql/demo read the tables of those before them.
 */
export async function writeFacts(
  folder: string,
  worlds: readonly World[],
  { calendar, first, run, report }: { calendar: Calendar; first: string; run: RunSql; report: (step: string) => void },
): Promise<void> {
  const write = (table: string, parameters: Record<string, string> = {}) =>
    run(table, { ...parameters, target: join(folder, `${table}.parquet`) });
  const ofAll = (rows: (world: World) => readonly object[]) => JSON.stringify(worlds.flatMap(rows));

  report('clicks and impressions of every query');
  const sites = ofAll(({ site }) => [trafficOf(site, calendar)]);
  await allEnded([
    run('days', { sites, first, last: calendar.last, seed: SEED }),
    run('queries', { queries: ofAll(({ queries }) => queries) }),
  ]);
  await run('base', { seed: SEED });

  report('facts');
  const keywords = ofAll(({ site, keywords }) =>
    keywords.map(({ id, number }) => ({ project: site.projectId, id, number })),
  );
  const moves = ofAll(({ site, history, keywords }) =>
    history.pageMoves.map(({ query, page, ago, back }) => ({
      project: site.projectId,
      number: keywords.find((keyword) => keyword.query === query)!.number,
      page: site.origin + page,
      first: calendar.ago(ago),
      until: back === null ? null : calendar.ago(back),
    })),
  );
  const brands = ofAll(({ site }) => site.brandTerms.map((term) => ({ project: site.projectId, term })));
  const appearances = ofAll(({ site }) => site.appearances.map((each) => ({ project: site.projectId, ...each })));
  // Six calendar months by day, the last of them incomplete; full months before them.
  const dailyFrom = Temporal.PlainDate.from(calendar.last).with({ day: 1 }).subtract({ months: 5 }).toString();
  const writeCountries = async () => {
    await run('countries', {});
    await allEnded([
      write('country_daily', { from: dailyFrom }),
      write('country_monthly', { first, until: dailyFrom }),
    ]);
  };
  const writeSplit = async () => {
    await run('split', { seed: SEED });
    await allEnded([write('page_daily'), write('query_daily'), writeCountries()]);
  };
  await allEnded([
    writeSplit(),
    write('keyword_page_daily', { keywords, moves }),
    write('keyword_daily', { keywords }),
    write('appearance_daily', { appearances, seed: SEED }),
    write('brand_daily', { brands }),
    write('site_daily'),
  ]);
}

/** The fields of a site that demo_days needs. A yearly event becomes one event per year. */
function trafficOf(site: Site, calendar: Calendar): object {
  return {
    project: site.projectId,
    growth: site.growth,
    weekdays: site.weekdays,
    devices: site.devices,
    events: site.events.flatMap(({ on, ...effect }) => {
      const dates = 'ago' in on ? [calendar.ago(on.ago)] : calendar.yearly(on.month, on.day);
      return dates.map((date) => ({ date, ...effect }));
    }),
  };
}
