import type { Stores } from '../../server/load/stores.ts';
import '../../cli/threads.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { loadDemo } from '../../cli/commands/demo.ts';
import type { EvaluatedAlert } from '../../server/alerts/alert.ts';
import { evaluateProject } from '../../server/alerts/evaluate.ts';
import { withFacts } from '../../server/alerts/with-facts.ts';
import { readCoverage } from '../../server/catalog/manifest.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { createWorkspace } from '../../server/catalog/workspaces.ts';
import { addDays, countDays } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { comparedRows, KEYWORDS, TRAFFIC, withLimits } from './compare.ts';
import { hourlyStopRows } from './hourly-stops.ts';
import { indexFlipRows } from './index-flips.ts';
import { worstWeek } from './openings.ts';
import { countKeywordOpenings, countTrafficOpenings, type ProjectDays, readProjectDays } from './project-days.ts';

/**
 * Replays projects day by day and prints how many alerts each rule opens, in total and in its worst week, and which drops it
 * finds in synthetic sites and keywords compared with other formulas.
 * docs/research/alert-formulas.md has the tables.
 */
const program = new Command('alerts:evidence')
  .option('--export <path>', 'a bulk export to replay, too')
  .option('--property <property>', 'its property')
  .option('--sites <n>', 'synthetic sites and keywords of each size', Number, 100)
  .option('--only <part>', 'sites, hours, index, demo or export');

interface Options {
  readonly export?: string;
  readonly property?: string;
  readonly sites: number;
  readonly only?: string;
}

/** The first days are needed for the windows of the rules. */
const FIRST_DAYS = 63;

async function run(): Promise<void> {
  const options: Options = program.parse().opts();
  const runs = (part: string): boolean => options.only === undefined || options.only === part;
  // They take longer than the tables, and all of these need them.
  const limits = ['hours', 'index'].includes(options.only ?? '') ? undefined : findLimits(options);
  if (limits !== undefined && runs('sites')) printSites(options, limits);
  if (limits !== undefined && runs('demo')) {
    await printFolder('The demo', limits, (stores) => loadDemo(stores, { evaluate: false }));
  }
  if (limits !== undefined && runs('export')) {
    if (options.export === undefined) print('\nNo export was named (--export): skipped.');
    else await printFolder('The export', limits, (stores) => importExport(stores, options));
  }
  if (runs('hours')) for (const row of hourlyStopRows(options.sites)) print(row);
  if (runs('index')) {
    for (const type of ['page_dropped_from_index', 'canonical_changed'] as const)
      for (const row of indexFlipRows(100 * options.sites, type)) print(row);
  }
}

/** Formulas with their limits. */
function findLimits({ sites }: Options) {
  return { traffic: withLimits(TRAFFIC, sites), keywords: withLimits(KEYWORDS, sites) };
}
type Limits = ReturnType<typeof findLimits>;

function printSites({ sites }: Options, { traffic, keywords }: Limits): void {
  print('\nSites of 7 / 20 / 200 / 2,000 clicks a day');
  for (const row of comparedRows(TRAFFIC, traffic, sites)) print(row);
  print('\nKeywords of 4 / 15 / 150 impressions a day');
  for (const row of comparedRows(KEYWORDS, keywords, sites)) print(row);
}

async function printFolder(
  name: string,
  { traffic, keywords }: Limits,
  fill: (stores: Stores) => Promise<unknown>,
): Promise<void> {
  const projects = await replayFolder(fill);
  printTable(name, projects);
  print(`\n| formula | opens at | ${projects.map(({ id }) => `alerts a year, ${id}`).join(' | ')} |`);
  print(`| --- | --- |${' --- |'.repeat(projects.length)}`);
  for (const limited of traffic) printCounts(limited, projects, (days) => countTrafficOpenings(days, limited));
  for (const limited of keywords) printCounts(limited, projects, (days) => countKeywordOpenings(days, limited));
}

function printCounts(
  { formula, limit, isMatched }: { formula: { name: string }; limit: number; isMatched: boolean },
  projects: readonly Replayed[],
  count: (days: ProjectDays) => number,
): void {
  const counts = projects.map(({ days, years }) => (count(days) / years).toFixed(1));
  print(`| ${formula.name} | ${limit.toFixed(1)}${isMatched ? ', matched' : ''} | ${counts.join(' | ')} |`);
}

interface Replayed {
  readonly id: string;
  readonly years: number;
  readonly alerts: readonly EvaluatedAlert[];
  readonly days: ProjectDays;
}

function printTable(name: string, projects: readonly Replayed[]): void {
  print(`\n${name}`);
  print('| project | rule | alerts | a year | worst week |');
  print('| --- | --- | --- | --- | --- |');
  for (const { id, years, alerts } of projects) {
    const byType = [...Map.groupBy(alerts, ({ type }) => type)].sort(([a], [b]) => a.localeCompare(b));
    for (const [type, own] of [...byType, ['all', alerts] as const]) {
      const worst = worstWeek(own.map(({ date }) => Date.parse(date) / 86_400_000));
      print(`| ${id} | ${type} | ${own.length} | ${(own.length / years).toFixed(1)} | ${worst} |`);
    }
  }
}

/** Fills a temporary data folder and replays its projects from the first possible day on. */
async function replayFolder(fill: (stores: Stores) => Promise<unknown>): Promise<Replayed[]> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  try {
    const settings = readSettings({ ...process.env, ORDINATE_DATA: dataFolder, ORDINATE_CATALOG: '' });
    await using catalog = await openCatalog(settings);
    await fill({ settings, catalog });
    return await withFacts({ settings, catalog }, async (facts) => {
      const replayed: Replayed[] = [];
      for (const { id } of await listAllProjects(catalog, null)) {
        const { site_daily: site } = await readCoverage(catalog, id);
        const asOf = addDays(site!.firstDay, FIRST_DAYS);
        await evaluateProject({ catalog, facts }, id, { asOf });
        const evaluation = (await evaluateProject({ catalog, facts }, id))!;
        const years = countDays(asOf, evaluation.range.to) / 365;
        const days = await readProjectDays({ catalog, facts }, id, { from: site!.firstDay, to: evaluation.range.to });
        replayed.push({ id, years, days, alerts: evaluation.alerts as EvaluatedAlert[] });
      }
      return replayed;
    });
  } finally {
    rmSync(dataFolder, { recursive: true, force: true });
  }
}

async function importExport(stores: Stores, { export: path, property }: Options): Promise<void> {
  await createWorkspace(stores.catalog, { id: 'evidence', name: 'Evidence', plan: 'team', keywordHistoryDays: 486 });
  if (property === undefined) throw new Error('Name the property of the export by --property.');
  await importBulkExport(stores, {
    paths: [path!],
    workspace: 'evidence',
    property,
    trackTop: 100,
    force: true,
    dryRun: false,
    report: () => {},
  });
}

await run().catch(fail);
