import { type Command, Option } from 'commander';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { listWorkspaces } from '../../server/catalog/workspaces.ts';
import { addDays, dayOf } from '../../server/domain/dates.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import type { Stores } from '../../server/load/stores.ts';
import { createKey } from '../../server/operations/keys.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { print, progress, withStores } from '../cli.ts';
import { ensureDashboard } from '../dashboard.ts';
import type { DemoPart } from '../demo/snapshot.ts';
import { examples } from '../help.ts';

export const DEMO_WORKSPACE = 'demo';
/** Name of the demo's API key. */
export const DEMO_KEY = 'Demo';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('create the demo workspace in an empty data folder')
    .option(
      '--live',
      'instead, connect a project to a model of Search Console on this machine, and run the server that fills it',
    )
    .addOption(new Option('--history', 'complete the demo whose newest days were loaded by serve').hideHelp())
    .addHelpText('after', examples('demo', 'demo --live'))
    .action(async ({ live = false, history = false }: { live?: boolean; history?: boolean }) => {
      if (live) await runLive();
      else if (history) await completeDemo();
      else await makeDemo();
    });
}

/** Loads the older days of a demo that `serve` has made. */
async function completeDemo(): Promise<void> {
  await withStores((stores) => loadDemo(stores, { part: 'history' }));
  process.stderr.write('Demo workspace: complete\n');
}

function makeDemo(): Promise<void> {
  return withStores(
    async (stores) => {
      const [workspace] = await listWorkspaces(stores.catalog);
      if (workspace !== undefined) {
        throw new Error(
          `The data folder '${stores.settings.dataFolder}' is not empty: it has the workspace '${workspace.id}'. Name an empty one in ORDINATE_DATA.`,
        );
      }
      await loadDemo(stores);
      const at = toMicroseconds(Date.now());
      const { key } = await createKey(stores.catalog, { workspace: DEMO_WORKSPACE, name: DEMO_KEY, at });
      print(`The demo workspace is ready. Its key, shown this once:\n  ${key}`);
    },
    { create: true },
  );
}

/** Runs a server with a project that syncs from a model of Search Console. */
async function runLive(): Promise<void> {
  const settings = readSettings(process.env);
  if (!settings.jobs || !settings.sync) {
    throw new Error('The live demo shows background jobs at work: leave ORDINATE_JOBS and ORDINATE_SYNC on.');
  }
  const { prepareLive } = await import('../demo/live.ts');
  await ensureDashboard();
  const { project, key } = await prepareLive();
  const { serve } = await import('../../server/main.ts');
  const address = await serve(settings);
  print(`Ordinate is ready at ${address} (documentation: ${address}/docs)`);
  print(`Its data folder is ${settings.dataFolder}`);
  if (key !== undefined) print(`\nThe demo key, shown this once:\n  ${key}`);
  print(
    `\nProject ${project} reads a model of Search Console on this machine: its newest 28 days first, then 16 months.`,
  );
  print('Watch it from another terminal, with the same ORDINATE_DATA:\n  ordinate sync status');
  print(`  curl -H 'Authorization: Bearer ${key ?? 'KEY'}' ${address}/api/v1/projects/${project}/site\n`);
}

interface LoadDemoOptions {
  readonly part?: DemoPart;
  readonly evaluate?: boolean;
  /** See `makeDemoSnapshot`. */
  readonly beside?: () => void;
}

/** Creates the demo snapshot, or a part of it, and loads it, with progress on standard error. */
export async function loadDemo(
  stores: Stores,
  { part = 'all', evaluate = part !== 'newest', beside }: LoadDemoOptions = {},
): Promise<void> {
  const [{ loadSnapshot }, { makeDemoSnapshot }] = await Promise.all([
    import('../../server/load/load.ts'),
    import('../demo/make.ts'),
  ]);
  const { report, end } = progress({ lines: true });
  try {
    await loadSnapshot(stores, {
      source: 'demo',
      report: (step) => report(`Demo workspace: ${step}`),
      makeSnapshot: async (folder) => {
        await makeDemoSnapshot(stores.settings, folder, Date.now(), {
          report: (step) => report(`Demo workspace: making ${step}`),
          part,
          beside,
        });
        return undefined;
      },
    });
    if (!evaluate) return;
    report('Demo workspace: evaluating alerts');
    await evaluateDemo(stores);
  } finally {
    end();
  }
}

/** Number of days for which the demo's alerts are evaluated. */
const EVALUATED_DAYS = 330;
/** Time of a day's evaluation: milliseconds after its end. */
const MORNING_AFTER = 28 * 3_600_000;

/** Evaluates alerts as if the service had evaluated the demo each morning for most of a year. */
async function evaluateDemo({ settings, catalog }: Stores): Promise<void> {
  const [{ evaluateProject }, { withFacts }] = await Promise.all([
    import('../../server/alerts/evaluate.ts'),
    import('../../server/query/with-facts.ts'),
  ]);
  const clock = (day: string): number => Math.min(Date.now(), Date.parse(day) + MORNING_AFTER);
  await withFacts({ settings, catalog }, async (facts) => {
    for (const { id } of await listAllProjects(catalog, DEMO_WORKSPACE)) {
      const asOf = addDays(dayOf(Date.now()), -EVALUATED_DAYS);
      await evaluateProject({ catalog, facts }, id, { asOf, clock });
      await evaluateProject({ catalog, facts }, id, { clock });
    }
  });
}
