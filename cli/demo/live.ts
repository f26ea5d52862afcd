import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { type Connection, listConnections } from '../../server/catalog/connections.ts';
import { createWorkspace, listWorkspaces } from '../../server/catalog/workspaces.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import { createKey } from '../../server/operations/keys.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { progress, withStores } from '../cli.ts';
import { withProviders } from '../providers.ts';
import type { LiveProvider } from './provider/live.ts';
import { shop } from './shop.ts';

const WORKSPACE = 'demo-live';
const CREDENTIALS = 'demo-credentials.json';
/** Not a secret: only the model accepts it. */
const REFRESH_TOKEN = 'of-the-demo';
const TRACKED = 150;

export interface LiveDemo {
  readonly project: string;
  /** Key of a new demo; undefined for an existing one. */
  readonly key: string | undefined;
}

/**
 * Starts a model of the reporting API on this machine, which ends with this process, and connects a project to it. A data
 * folder with such a project continues with it. Throws if the folder has other data.
 */
export async function prepareLive(): Promise<LiveDemo> {
  const before = await withStores(readDemo, { create: true });
  const { url, tokenUrl } = await startModel(before?.port ?? 0);
  if (before !== undefined) return { project: before.project, key: undefined };
  const { report, end } = progress({ lines: true });
  try {
    return await withProviders(async ({ providers, ...stores }) => {
      const { createProject } = await import('../../server/projects/projects.ts');
      const at = toMicroseconds(Date.now());
      const plan = { id: WORKSPACE, name: 'Live demo', plan: 'team', keywordHistoryDays: 486 };
      await createWorkspace(stores.catalog, plan);
      const project = {
        workspace: WORKSPACE,
        property: shop.property,
        connection: connectionTo(stores.settings, url, tokenUrl),
        brandTerms: shop.brandTerms,
        country: null,
        name: null,
        trackTop: TRACKED,
      };
      const { id } = await createProject(stores, providers, project, { now: Date.now(), report });
      const { key } = await createKey(stores.catalog, { workspace: WORKSPACE, name: 'Demo', at });
      return { project: id, key };
    });
  } finally {
    end();
  }
}

/** The live demo of a data folder; undefined if the folder is empty. */
async function readDemo({
  catalog,
  settings,
}: {
  catalog: Catalog;
  settings: Settings;
}): Promise<{ project: string; port: number } | undefined> {
  const workspaces = await listWorkspaces(catalog);
  const [connection] = await listConnections(catalog, WORKSPACE);
  const { hostname, port } = new URL(connection?.endpoint ?? 'none:');
  if (connection !== undefined && hostname === '127.0.0.1') return { project: connection.project, port: Number(port) };
  if (workspaces.length === 0) return undefined;
  throw new Error(
    `The data folder '${settings.dataFolder}' has data of its own: name an empty one in ORDINATE_DATA for the live demo.`,
  );
}

/** Runs the model in a thread, which ends with this process. */
async function startModel(port: number): Promise<LiveProvider> {
  const worker = new Worker(new URL('./provider/live.ts', import.meta.url), {
    workerData: { port, refreshToken: REFRESH_TOKEN },
  });
  worker.unref();
  try {
    const [started] = (await once(worker, 'message')) as [LiveProvider];
    // Without the model, the demo cannot continue.
    worker.once('error', (error) => {
      throw error;
    });
    return started;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(
      `The provider of this demo listened on port ${port}, which is in use now; does the demo run already? An empty folder in ORDINATE_DATA begins a new one.`,
      { cause: error },
    );
  }
}

function connectionTo({ dataFolder }: Settings, endpoint: string, tokenEndpoint: string): Connection {
  const credentials = join(dataFolder, CREDENTIALS);
  const user = { client_id: 'demo', client_secret: 'demo', refresh_token: REFRESH_TOKEN };
  writeFileSync(credentials, `${JSON.stringify({ type: 'authorized_user', ...user })}\n`, { mode: 0o600 });
  return {
    kind: 'search-console',
    credentials,
    endpoint,
    tokenEndpoint,
    dataset: null,
    location: null,
    grant: null,
    archive: 'queries,pages',
  };
}
