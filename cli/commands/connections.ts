import { type Command, Option } from 'commander';
import { connectionsOf, listConnections, removeConnection } from '../../server/catalog/connections.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { isoInstant, toMicroseconds } from '../../server/domain/instants.ts';
import { checkOptions, isSynced, setConnection } from '../../server/providers/connections.ts';
import { PROVIDERS, providerOf } from '../../server/providers/registry.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { addConnectionOptions, type ConnectionOptions, toConnection } from '../connection-options.ts';
import { examples } from '../help.ts';
import { withProviders } from '../providers.ts';

interface SetOptions extends ConnectionOptions {
  readonly project: string;
  readonly kind: string;
  readonly json?: boolean;
}

export function addConnections(program: Command): void {
  const command = program.command('connections').description('connect projects to search providers');
  addConnectionOptions(
    command
      .command('set')
      .description("set a project's connection of one kind, replacing an existing one")
      .requiredOption('--project <id>', 'the project')
      .addOption(kindOption()),
    PROVIDERS,
    { archive: true },
  )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'connections set --project Fw7kd --kind search-console --credentials /etc/ordinate/google.json',
        'connections set --project Fw7kd --kind bigquery --dataset my-project.searchconsole --location EU',
        'connections set --project Fw7kd --kind bing --api-key-file /etc/ordinate/bing-key',
      ),
    )
    .action(async ({ project, kind, json, ...options }: SetOptions) => {
      checkOptions(kind, ({ name }) => options[name as keyof ConnectionOptions] !== undefined);
      const connection = toConnection(providerOf(kind), options, 'The connection was not set');
      const isRead = await withStores(async ({ catalog }) => {
        await setConnection(catalog, project, connection, toMicroseconds(Date.now()));
        return isSynced((await connectionsOf(catalog, project)).map((one) => one.kind));
      });
      if (json) printJson({ project, ...connection });
      else {
        print(`Project '${project}' is connected to ${connection.kind}; connections test checks it.`);
        if (!isRead && providerOf(kind).wholeTables !== undefined)
          print('The sync reads it once the project has a search-console connection, too.');
      }
    });
  command
    .command('list')
    .description('list connections')
    .option('--workspace <id>', 'only of this workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('connections list', 'connections list --workspace acme --json'))
    .action(async ({ workspace, json }: { workspace?: string; json?: boolean }) => {
      const { grantOf } = await import('../../server/projects/connect.ts');
      const rows = await withStores(async (stores) => {
        const all = await listConnections(stores.catalog, workspace ?? null);
        return Promise.all(
          all.map(async ({ changedAt, ...row }) => ({
            ...row,
            ...(await grantOf(stores, row)),
            changedAt: isoInstant(changedAt),
          })),
        );
      });
      if (json) printJson(rows);
      else await printTable(rows, 'There are no connections yet.');
    });
  command
    .command('test')
    .description('test the connections of a project; report what works, what fails and what to do')
    .requiredOption('--project <id>', 'the project')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('connections test --project Fw7kd'))
    .action(async ({ project: id, json }: { project: string; json?: boolean }) => {
      const { testConnections } = await import('../../server/providers/connection-test.ts');
      const results = await withProviders(async ({ catalog, providers }) =>
        testConnections(catalog, providers, await requireProject(catalog, id), Date.now()),
      );
      if (json) printJson(results);
      else if (results.length === 0) print(`Project '${id}' has no connections; connections set makes one.`);
      else
        for (const { works, found, advice } of results) {
          print(`${works ? 'Works' : 'Does not work'}: ${found}${advice === '' ? '' : `\n  ${advice}`}`);
        }
      if (results.some(({ works }) => !works)) process.exitCode = 1;
    });
  command
    .command('remove')
    .description('remove a connection and the stored lists that came from providers')
    .requiredOption('--project <id>', 'the project')
    .addOption(kindOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('connections remove --project Fw7kd --kind bigquery'))
    .action(async ({ project, kind, json }: { project: string; kind: string; json?: boolean }) => {
      await withStores(({ catalog }) => removeConnection(catalog, project, kind));
      if (json) printJson({ project, kind, removed: true });
      else print(`Project '${project}' is no longer connected to ${kind}.`);
    });
}

function kindOption(): Option {
  const help = PROVIDERS.map((provider) => `${provider.kind}: ${provider.help}`).join('; ');
  return new Option('--kind <kind>', help).choices(PROVIDERS.map(({ kind }) => kind)).makeOptionMandatory();
}
