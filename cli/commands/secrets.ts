import type { Command } from 'commander';
import { count } from '../../server/load/problems.ts';
import { print, printJson, withStores } from '../cli.ts';
import { examples } from '../help.ts';

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
}
