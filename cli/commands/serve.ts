import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { findActiveKey } from '../../server/catalog/keys.ts';
import { openLeases } from '../../server/catalog/open-leases.ts';
import { listAllProjects } from '../../server/catalog/projects.ts';
import { createLink, signInAddress } from '../../server/catalog/sessions.ts';
import { listWorkspaces } from '../../server/catalog/workspaces.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { createKey } from '../../server/operations/keys.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { SETTINGS } from '../../server/settings/table.ts';
import { checkSecrets } from '../check-secrets.ts';
import { print, withStores } from '../cli.ts';
import { ensureDashboard } from '../dashboard.ts';
import { examples } from '../help.ts';
import { DEMO_KEY, DEMO_WORKSPACE, loadDemo } from './demo.ts';

const MAX_WORKERS = 64;

interface Options {
  readonly port?: number;
  readonly host?: string;
  readonly demo?: boolean;
  readonly workers?: number;
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .description('run the server')
    .option('--port <port>', 'port to listen on; overrides PORT', readPort)
    .option('--host <host>', 'address to listen on; overrides HOST')
    .option('--workers <n>', 'server processes that share the port, or auto for one on each processor', readWorkers)
    .option('--demo', 'create the demo workspace first if the data folder is empty')
    .addHelpText('after', examples('serve --demo', 'serve --host 0.0.0.0 --port 8080', 'serve --workers auto'))
    .action(async (options: Options) => {
      const settings = readSettings(process.env);
      checkSecrets(settings);
      await ensureDashboard();
      const key = options.demo === true ? await prepareDemo() : undefined;
      const { port = settings.port, host = settings.host, workers } = options;
      const filling = options.demo === true ? await holdDemo(settings) : undefined;
      const address = await serve({ ...settings, port, host }, workers);
      print(`Ordinate is ready at ${address} (documentation: ${address}/docs)`);
      print(`Its data folder is ${settings.dataFolder}`);
      const link = options.demo === true ? await makeDemoLink() : undefined;
      if (link === undefined) print(`Dashboard: ${address}/app`);
      else
        print(
          `\nThe dashboard of the demo; this link signs you in once, within 10 minutes:\n  ${signInAddress(address, link)}`,
        );
      if (key !== undefined) {
        print('\nThe demo key, shown this once:');
        print(`  ${key}`);
        print('\nA first question:');
        print(`  curl -H 'Authorization: Bearer ${key}' ${address}/api/v1/projects\n`);
      }
      filling?.start();
    });
}

/** Serves with this process, or with several. */
async function serve(settings: Settings, workers: number | undefined): Promise<string> {
  if (workers === undefined) return (await import('../../server/main.ts')).serve(settings);
  return (await import('../../server/workers/primary.ts')).serveWithProcesses(settings, workers);
}

/** Loads the modules of the server while the demo is made; an error shows when they are needed. */
const loadServer = (): void => void import('../../server/main.ts').catch(() => {});

/** Creates the newest days of the demo workspace in an empty data folder; returns its key, or undefined if there is data. */
function prepareDemo(): Promise<string | undefined> {
  return withStores(
    async (stores) => {
      if ((await listWorkspaces(stores.catalog)).length > 0) return undefined;
      await loadDemo(stores, { part: 'newest', beside: loadServer });
      const at = toMicroseconds(Date.now());
      const { key } = await createKey(stores.catalog, { workspace: DEMO_WORKSPACE, name: DEMO_KEY, at });
      return key;
    },
    { create: true },
  );
}

/**
 * Prepares loading the older days of a demo that lacks them, while the server runs; undefined if it has them. They are
 * loaded by another process. Until it ends, no other process evaluates alerts: it dates each by its day.
 */
async function holdDemo(settings: Settings): Promise<{ start: () => void } | undefined> {
  const isComplete = await withStores(async ({ catalog }) =>
    (await listAllProjects(catalog, DEMO_WORKSPACE)).every(({ historyBackfilling }) => !historyBackfilling),
  );
  if (isComplete) return undefined;
  const lease = await openLeases(settings).acquire('evaluate-alerts');
  return {
    start: () => {
      const filling = spawn(process.execPath, [process.argv[1]!, 'demo', '--history'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      process.once('exit', () => filling.kill());
      const report = (reason: string): void => {
        process.stderr.write(`The demo stays without its older days until the next start: ${reason}\n`);
      };
      filling.once('close', () => void lease?.release());
      filling.once('exit', (code, signal) => {
        if (code !== 0) report(`loading them ended with ${signal ?? `exit code ${code}`}.`);
      });
      filling.once('error', (error) => report(error.message));
    },
  };
}

/** Creates a sign-in link for the key of the demo; undefined if that key is gone. */
function makeDemoLink(): Promise<string | undefined> {
  return withStores(async ({ catalog }) => {
    const keyId = await findActiveKey(catalog, { workspace: DEMO_WORKSPACE, name: DEMO_KEY });
    if (keyId === undefined) return undefined;
    const at = toMicroseconds(Date.now());
    return (await createLink(catalog, { workspace: DEMO_WORKSPACE, who: { keyId, email: null }, at })).token;
  });
}

function readWorkers(text: string): number {
  if (text === 'auto') return availableParallelism();
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > MAX_WORKERS) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_WORKERS}, or auto.`);
  }
  return count;
}

function readPort(text: string): number {
  const port = SETTINGS.port.read(text);
  if (port === undefined) throw new InvalidArgumentError(`It must be ${SETTINGS.port.wanted}.`);
  return port;
}
