import type { Command } from 'commander';
import { readSettings } from '../../server/settings/settings.ts';
import { checkSecrets } from '../check-secrets.ts';
import { examples } from '../help.ts';

export function addWork(program: Command): void {
  program
    .command('work')
    .description('run the background jobs alone, for a server that is started with ORDINATE_JOBS=off')
    .addHelpText('after', examples('work'))
    .action(async () => {
      const settings = readSettings(process.env);
      checkSecrets(settings);
      const { work } = await import('../../server/workers/worker.ts');
      await work(settings);
    });
}
