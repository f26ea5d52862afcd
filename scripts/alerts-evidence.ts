import type { Stores } from '../server/load/stores.ts';
import './threads.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { EvaluatedAlert } from '../server/alerts/alert.ts';
import { evaluateProject } from '../server/alerts/evaluate.ts';
import { withFacts } from '../server/alerts/with-facts.ts';
import { readCoverage } from '../server/catalog/manifest.ts';
import { openCatalog } from '../server/catalog/open-catalog.ts';
import { listAllProjects } from '../server/catalog/projects.ts';
import { createWorkspace } from '../server/catalog/workspaces.ts';
import { addDays, countDays } from '../server/domain/dates.ts';
import { importBulkExport } from '../server/load/bulk-export.ts';
import { readSettings } from '../server/settings.ts';
import { fail, print } from './cli.ts';
import { loadDemo } from './commands/demo.ts';
import { measureCost } from './evidence/cost.ts';
import { type Counted, countAlerts } from './evidence/count.ts';
import { falseAlarms, power } from './evidence/synthetic.ts';

/**
 * Replays projects day by day and prints how many alerts each rule opens, in total and in its worst week; which drops it
 * finds in synthetic sites; and the cost of evaluating many keywords. ARCHITECTURE.md has the tables.
 */
const program = new Command('alerts:evidence')
  .option('--export <path>', 'a bulk export to replay, too', process.env['ORDINATE_EVIDENCE_EXPORT'])
  .option('--property <property>', 'its property', process.env['ORDINATE_EVIDENCE_PROPERTY'])
  .option('--sites <n>', 'synthetic sites of each size', Number, 50)
  .option('--keywords <n>', 'keywords of the measurement of costs', Number, 5000)
  .option('--only <part>', 'sites, demo, export or cost');

interface Options {
  readonly export?: string;
  readonly property?: string;
  readonly sites: number;
  readonly keywords: number;
  readonly only?: string;
}

const CLICKS_PER_DAY = [7, 20, 200, 2000];
const DROPS = [0.3, 0.5, 0.8];
/** The first days are needed for the windows of the rules. */
const FIRST_DAYS = 63;

async function run(): Promise<void> {
  const options: Options = program.parse().opts();
  const runs = (part: string): boolean => options.only === undefined || options.only === part;
  if (runs('sites')) printSites(options.sites);
  if (runs('demo')) printTable('The demo', await replayFolder((stores) => loadDemo(stores, { evaluate: false })));
  if (runs('export')) {
    if (options.export === undefined) print('\nNo export was named (--export): skipped.');
    else printTable('The export', await replayFolder((stores) => importExport(stores, options)));
  }
  if (runs('cost')) await measureCost(options.keywords, print);
}

function printSites(sites: number): void {
  print(`\n| clicks a day | false traffic drops a year | worst week | −30 % | −50 % | −80 % |`);
  print('| --- | --- | --- | --- | --- | --- |');
  for (const clicks of CLICKS_PER_DAY) {
    const { perYear, worstWeek } = falseAlarms(clicks, sites);
    const found = DROPS.map((drop) => `${Math.round(power(clicks, drop, sites) * 100)} %`);
    print(`| ${clicks} | ${perYear.toFixed(2)} | ${worstWeek} | ${found.join(' | ')} |`);
  }
}

function printTable(name: string, projects: readonly { id: string; years: number; counted: Counted[] }[]): void {
  print(`\n${name}`);
  print('| project | rule | alerts | a year | worst week |');
  print('| --- | --- | --- | --- | --- |');
  for (const { id, years, counted } of projects) {
    for (const { type, alerts, worstWeek } of counted) {
      print(`| ${id} | ${type} | ${alerts} | ${(alerts / years).toFixed(1)} | ${worstWeek} |`);
    }
  }
}

/** Fills a temporary data folder and replays its projects from the first possible day on. */
async function replayFolder(fill: (stores: Stores) => Promise<unknown>) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  try {
    const settings = readSettings({ ...process.env, ORDINATE_DATA: dataFolder });
    await using catalog = await openCatalog(dataFolder);
    await fill({ settings, catalog });
    return await withFacts(settings, async (facts) => {
      const replayed: { id: string; years: number; counted: Counted[] }[] = [];
      for (const { id } of await listAllProjects(catalog, null)) {
        const { site_daily: site } = await readCoverage(catalog, id);
        const asOf = addDays(site!.firstDay, FIRST_DAYS);
        await evaluateProject({ catalog, facts }, id, { asOf });
        const evaluation = (await evaluateProject({ catalog, facts }, id))!;
        const years = countDays(asOf, evaluation.range.to) / 365;
        replayed.push({ id, years, counted: countAlerts(evaluation.alerts as EvaluatedAlert[]) });
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
