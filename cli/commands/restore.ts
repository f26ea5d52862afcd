import type { Command } from 'commander';
import { requireSqlite } from '../../server/catalog/place.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { print, printJson, progress } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly data: string;
  readonly at: string;
  readonly json?: boolean;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into a new or empty folder')
    .argument('<backup>', 'a target of backup')
    .requiredOption('--data <folder>', 'a new or empty folder, which becomes a data folder')
    .option('--at <time>', "the newest backup until a day, an instant or an id of 'backup list'", 'latest')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('restore /mnt/backup --data ./restored', 'restore /mnt/backup --data ./restored --at 2026-03-22'),
    )
    .action(async (backup: string, { data, at, json }: Options) => {
      requireSqlite(
        readSettings(process.env),
        "To go back to an earlier state of the database, use its own tools (pg_restore, or recovery to an instant). A backup that was made before the catalog was in PostgreSQL is restored without ORDINATE_CATALOG; 'ordinate catalog copy --to ADDRESS' then copies its catalog into an empty database.",
      );
      const { restore } = await import('../../server/maintenance/restore.ts');
      const { report, end } = progress({ lines: true });
      try {
        const done = await restore({ backup, dataFolder: data, at, report });
        end();
        if (json) {
          printJson(done);
          return;
        }
        const { files, bytes, projects, time, dataFolder } = done;
        print(
          `Restored ${projects.toLocaleString('en')} projects, ${files.toLocaleString('en')} files, ${(bytes / 1e6).toFixed(1)} MB, as they were at ${time}, to ${dataFolder}.`,
        );
        print(
          `Start the server with ORDINATE_DATA=${dataFolder}. Keys that were revoked since then are valid again: revoke them again.`,
        );
      } finally {
        end();
      }
    });
}
