import { join } from 'node:path';
import type { Command } from 'commander';
import type { Catalog } from '../../server/catalog/catalog.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { listWorkspaces } from '../../server/catalog/workspaces.ts';
import { dayOf } from '../../server/domain/dates.ts';
import { toMicroseconds } from '../../server/domain/instants.ts';
import type { Settings } from '../../server/settings.ts';
import { print, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

export const DEMO_WORKSPACE = 'demo';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('create the demo workspace in an empty data folder')
    .addHelpText('after', examples('demo'))
    .action(async () => {
      await withStores(
        async (stores) => {
          const [workspace] = await listWorkspaces(stores.catalog);
          if (workspace !== undefined) {
            throw new Error(
              `The data folder '${stores.settings.dataFolder}' is not empty: it has the workspace '${workspace.id}'. Name an empty one in ORDINATE_DATA.`,
            );
          }
          await loadDemo(stores);
          const at = toMicroseconds(Date.now());
          const { key } = await createKey(stores.catalog, { workspace: DEMO_WORKSPACE, name: 'Demo', by: null, at });
          print(`The demo workspace is ready. Its key, shown this once:\n  ${key}`);
        },
        { create: true },
      );
    });
}

/** Makes the demo snapshot and loads it as everybody's data is loaded, with progress on standard error. */
export async function loadDemo(stores: { settings: Settings; catalog: Catalog }): Promise<void> {
  const [{ Engine }, { loadSnapshot }, { writeDemoSnapshot }] = await Promise.all([
    import('../../server/facts/duckdb/engine.ts'),
    import('../../server/load/load.ts'),
    import('../demo/snapshot.ts'),
  ]);
  const { report, end } = progress({ lines: true });
  try {
    await loadSnapshot(stores, {
      report: (step) => report(`Demo workspace: ${step}`),
      makeSnapshot: async (folder) => {
        const engine = await Engine.open({
          memoryLimit: stores.settings.memoryLimit,
          threads: stores.settings.threads,
          temporaryFolder: `${folder}-memory`,
          folders: [folder],
        });
        try {
          using session = await engine.session();
          const run = async (name: string, parameters: Readonly<Record<string, string | number>>) => {
            await session.runFile(join('demo', name), parameters);
          };
          await writeDemoSnapshot(folder, dayOf(Date.now()), run, (step) => report(`Demo workspace: making ${step}`));
        } finally {
          engine.close();
        }
        return undefined;
      },
    });
  } finally {
    end();
  }
}
