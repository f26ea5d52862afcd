import type { Command } from 'commander';
import { paceOf } from '../../server/maintenance/pace.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly to: string;
  readonly json?: boolean;
}

export function addStorage(program: Command): void {
  const command = program.command('storage').description('move the files of facts and lists to another place');
  command
    .command('copy')
    .description('copy all files that the catalog names, and compare each copy; intact files are skipped')
    .requiredOption('--to <place>', 's3://bucket/prefix, at ORDINATE_STORAGE_ENDPOINT, or a data folder')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('storage copy --to s3://bucket/prefix', 'storage copy --to ./data')}

Copy once beside the running servers. Then stop them and loads, copy again, which takes moments, and start with the new
ORDINATE_STORAGE. A folder is used without ORDINATE_STORAGE, as ORDINATE_DATA. Nothing is removed from the old place.`,
    )
    .action(async ({ to, json }: Options) => {
      const { copyStorage } = await import('../../server/maintenance/copy-storage.ts');
      const { report, end } = progress({ lines: true });
      try {
        const done = await withStores((stores) => copyStorage(stores, { to, report }));
        end();
        if (json) {
          printJson(done);
          return;
        }
        for (const file of done.left) print(`'${file}' cannot be read; nothing depends on it.`);
        const { files, copied, present } = done;
        const megabytes = (done.bytes / 1e6).toFixed(1);
        print(
          `'${done.to}' has all ${files.toLocaleString('en')} files (${megabytes} MB): ${copied.toLocaleString('en')} were copied, ${present.toLocaleString('en')} were there.`,
        );
        const pace = paceOf(files, done.seconds);
        if (pace !== '') print(`That was ${pace}.`);
      } finally {
        end();
      }
    });
  command
    .command('join')
    .description('make ORDINATE_STORAGE the store of the catalog, after looking that it has all files of facts')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('storage join')}

Needed only where files were moved by other means than 'storage copy', or the mark of a store ('ordinate-store.json') was
lost: a catalog is joined with the first store that a process uses with it, and refuses all others from then on.`,
    )
    .action(async ({ json }: Pick<Options, 'json'>) => {
      const { joinStorage } = await import('../../server/maintenance/join-storage.ts');
      const done = await withStores(joinStorage);
      if (json) printJson(done);
      else print(`'${done.storage}' has all ${done.files.toLocaleString('en')} files, and is the store ${done.store}.`);
    });
}
