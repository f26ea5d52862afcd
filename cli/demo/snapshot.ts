import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calendarUntil, demoDay } from './calendar.ts';
import { entityTables } from './entities.ts';
import { type RunSql, writeFacts } from './facts.ts';
import { keywordsOf } from './keywords.ts';
import { queriesOf } from './queries.ts';
import { recipes } from './recipes.ts';
import { recipesGrouping } from './recipes-groups.ts';
import { recipesHistory } from './recipes-history.ts';
import { shop } from './shop.ts';
import { shopGrouping } from './shop-groups.ts';
import { shopHistory } from './shop-history.ts';

export type { RunSql };

const SITES = [
  { site: shop, history: shopHistory, grouping: shopGrouping },
  { site: recipes, history: recipesHistory, grouping: recipesGrouping },
];

/** The days of the newest part: enough to compare four weeks with those before. */
const NEWEST_DAYS = 63;

/** All of the demo; its newest days with all entities; or its facts and projects, which complete the newest part. */
export type DemoPart = 'all' | 'newest' | 'history';

/**
 * Writes the demo snapshot, a folder for the loader. Data ends the day before the last morning (UTC).
 *
 * `run` must use the same engine, in which the files of sql/demo make tables. The same `demoDay` gives the same rows,
 * whatever the part.
 * @param now milliseconds
 */
export async function writeDemoSnapshot(
  folder: string,
  now: number,
  run: RunSql,
  report: (step: string) => void,
  part: DemoPart = 'all',
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const calendar = calendarUntil(demoDay(now));
  const worlds = SITES.map(({ site, history, grouping }) => {
    const queries = queriesOf(site, history.moves, calendar);
    return { site, history, grouping, queries, keywords: keywordsOf(site, history, queries) };
  });

  report('projects, keywords, groups, rules and notes');
  const tables = entityTables(worlds, calendar, { isBackfilling: part === 'newest' });
  for (const [table, rows] of Object.entries(tables)) {
    if (part === 'history' && table !== 'projects') continue;
    writeFileSync(join(folder, `${table}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  const first = part === 'newest' ? calendar.ago(NEWEST_DAYS - 1) : calendar.first;
  await writeFacts(folder, worlds, { calendar, first, run, report });
}
