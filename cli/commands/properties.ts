import type { Command } from 'commander';
import { print, printJson, printTable } from '../cli.ts';
import { addConnectionOptions, archiveOption, type ConnectionOptions, searchConsole } from '../connection-options.ts';
import { examples } from '../help.ts';
import { withProviders } from '../providers.ts';

export function addProperties(program: Command): void {
  addConnectionOptions(
    program
      .command('properties')
      .description('list the properties that credentials can read, with their permission')
      .option('--json', 'print one JSON document'),
  )
    // Ignored: the command accepts the same options as a connection.
    .addOption(archiveOption().hideHelp())
    .addHelpText('after', examples('properties --credentials /etc/ordinate/google.json'))
    .action(async ({ json, ...options }: ConnectionOptions & { json?: boolean }) => {
      const { listProperties } = await import('../../server/projects/find-property.ts');
      const connection = searchConsole(options);
      const { readable, unverified } = await withProviders(({ providers }) => listProperties(providers, connection), {
        create: true,
      });
      if (json) {
        printJson(readable);
        return;
      }
      const none =
        'These credentials can read no property yet: add their account in Search Console, Settings > Users and permissions.';
      await printTable(readable, none);
      for (const { property } of unverified) {
        print(`Not readable, because nobody has verified it for this account: ${property}`);
      }
    });
}
