import type { Command } from 'commander';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly repair?: boolean;
  readonly json?: boolean;
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('compare what is stored with what was loaded: the catalog, all files, the rollups and the journal')
    .option('--repair', 'make rollups from their days, write the journal again, and move unknown files to the trash')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('verify', 'verify --repair --json'))
    .action(async ({ repair = false, json }: Options) => {
      const { verify } = await import('../../server/ops/verify.ts');
      const { report, end } = progress();
      try {
        const found = await withStores((stores) => verify(stores, { repair, report }));
        end();
        if (json) printJson(found);
        else {
          for (const { message } of found.problems) print(message);
          const megabytes = (found.bytes / 1e6).toFixed(1);
          const outcome = found.ok ? 'All is in order' : 'Not all is in order';
          print(`${outcome}: ${found.files.toLocaleString('en')} files, ${megabytes} MB.`);
        }
        if (!found.ok) process.exitCode = 1;
      } finally {
        end();
      }
    });
}
