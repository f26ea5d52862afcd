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
import { readCoverage } from '../../server/catalog/fact-files.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { createWorkspace } from '../../server/catalog/workspaces.ts';
import { addDays, countDays } from '../../server/domain/dates.ts';
import { importBulkExport } from '../../server/load/bulk-export.ts';
import { withFacts } from '../../server/query/with-facts.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { dropRows, worstWeek } from './drops.ts';
import { hourlyStopRows } from './hourly-stops.ts';
import { indexFlipRows } from './index-flips.ts';

/**
 * Replays projects day by day and prints how many alerts each rule opens, in total and in its worst week, and which drops
 * are found in synthetic sites and keywords.
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
  if (runs('sites')) for (const row of dropRows(options.sites)) print(row);
  if (runs('demo')) await printFolder('The demo', (stores) => loadDemo(stores, { evaluate: false }));
  if (runs('export')) {
    if (options.export === undefined) print('\nNo export was named (--export): skipped.');
    else await printFolder('The export', (stores) => importExport(stores, options));
  }
  if (runs('hours')) for (const row of hourlyStopRows(options.sites)) print(row);
  if (runs('index')) {
    for (const type of ['page_dropped_from_index', 'canonical_changed'] as const)
      for (const row of indexFlipRows(100 * options.sites, type)) print(row);
  }
}

interface Replayed {
  readonly id: string;
  readonly years: number;
  readonly alerts: readonly EvaluatedAlert[];
}

async function printFolder(name: string, fill: (stores: Stores) => Promise<unknown>): Promise<void> {
  print(`\n${name}`);
  print('| project | rule | alerts | a year | worst week |');
  print('| --- | --- | --- | --- | --- |');
  for (const { id, years, alerts } of await replayFolder(fill)) {
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
        replayed.push({ id, years, alerts: evaluation.alerts as EvaluatedAlert[] });
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
