import type { Command } from 'commander';
import type { Unreadable } from '../../server/catalog/unreadable.ts';
import { count } from '../../server/domain/problems.ts';
import { commandWriter, print, printJson, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';
import { confirmRemoval, type RemoveOptions } from '../removals.ts';

export function addSecrets(program: Command): void {
  const command = program.command('secrets').description('the encryption of stored secrets');
  command
    .command('rotate')
    .description('make a new key in ORDINATE_SECRETS_KEY_FILE and encrypt all secrets with it; servers may run')
    .option('--forget', 'then remove the old keys, which backups from before need')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('secrets rotate', 'secrets rotate --forget'))
    .action(async ({ forget = false, json }: { forget?: boolean; json?: boolean }) => {
      const { rotateSecrets } = await import('../../server/catalog/secrets.ts');
      const { rotated, unreadable, forgotten } = await withStores(({ settings, catalog }) =>
        rotateSecrets(catalog, settings, forget),
      );
      if (unreadable > 0) {
        process.stderr.write(`Not rotated, because their key is missing: ${count(unreadable, 'secret')}.\n`);
      }
      if (json) printJson({ rotated });
      else {
        const old = forget ? `; ${count(forgotten, 'old key')} removed` : '';
        print(`${count(rotated, 'secret')} encrypted with a new key${old}.`);
      }
    });
  command
    .command('remove-unreadable')
    .description('remove accounts and channels whose key is lost, so that they can be connected and added again')
    .option('--confirm <word>', 'unreadable: remove them without asking')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('secrets remove-unreadable', 'secrets remove-unreadable --confirm unreadable'))
    .action(async ({ confirm, json }: RemoveOptions) => {
      const { listUnreadable } = await import('../../server/catalog/unreadable.ts');
      const { removeGrant } = await import('../../server/catalog/connections.ts');
      const { channelRemoval } = await import('../../server/operations/channels.ts');
      const removed = await withStores(async (stores) => {
        const { settings, catalog } = stores;
        const found = await listUnreadable(catalog, settings);
        if (found.grants.length + found.channels.length === 0) throw new Error('There is nothing unreadable.');
        await confirmRemoval('unreadable', linesOf(found), confirm);
        // Projects keep their data and lose the connection, channels go with their deliveries.
        for (const grant of found.grants) await removeGrant(catalog, grant, commandWriter());
        for (const { workspace, id } of found.channels) await perform(stores, channelRemoval, { workspace, id });
        return found;
      });
      if (json) {
        const [grants, channels] = [removed.grants, removed.channels].map((all) => all.map(({ id }) => id));
        printJson({ removed: { grants, channels } });
      } else print(`Removed:\n${linesOf(removed).join('\n')}`);
    });
}

function linesOf({ grants, channels }: Unreadable): string[] {
  return [
    ...grants.map(({ id, workspace, connectedBy }) => `  account ${id} of '${workspace}', connected by ${connectedBy}`),
    ...channels.map(({ id, workspace, kind, shown }) => `  channel ${id} of '${workspace}': ${kind} ${shown}`),
  ];
}
