import type { Command } from 'commander';
import { requireSqlite } from '../../server/catalog/location.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { requireFolder } from '../../server/storage/storage-settings.ts';
import { print, printJson, progress } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly new?: boolean;
  readonly json?: boolean;
}

export function addRebuild(program: Command): void {
  program
    .command('rebuild')
    .description('recover a lost or outdated catalog from its last copy and the journal beside the facts')
    .option(
      '--new',
      'discard the facts of a lost catalog instead: they are moved to the trash, and the next command starts empty',
    )
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('rebuild', 'rebuild --new'))
    .action(async (options: Options) => {
      const settings = readSettings(process.env);
      requireSqlite(
        settings,
        'There is no copy to make it from: restore the database with its own tools (pg_restore, or recovery to an instant).',
      );
      requireFolder(settings, 'Restore the catalog from a copy of it; the files that it names are in the bucket.');
      const { dataFolder } = settings;
      const { discardFacts, rebuild } = await import('../../server/maintenance/rebuild.ts');
      const { report, end } = progress();
      try {
        if (options.new === true) {
          await discardFacts(dataFolder, { report });
          end();
          if (options.json) printJson({ rebuilt: 'nothing' });
          else
            print(
              `The facts were moved to '${dataFolder}/trash', where they stay for 7 days. The next command starts with an empty catalog.`,
            );
          return;
        }
        const { rebuilt, copy, damagedCopies, projects, files, restored, damaged } = await rebuild(dataFolder, {
          report,
          onWarning: (warning) => process.stderr.write(`Warning: ${warning}\n`),
        });
        end();
        if (options.json) printJson({ rebuilt, copy, damagedCopies, projects, files, restored, damaged });
        else {
          for (const file of damagedCopies) print(`'${file}' is damaged and was left out.`);
          for (const file of restored) print(`'${file}' was restored from the trash.`);
          for (const { project, table, part, damage } of damaged) {
            print(
              `${table} of project ${project}, ${part}, is damaged: ${damage}. Restore it from a backup or load it again.`,
            );
          }
          const from = copy === null ? '' : ` from the copy of ${copy}`;
          print(
            `The ${rebuilt} was rebuilt${from}: ${projects} projects, ${files} files. Start running servers again.`,
          );
          if (rebuilt === 'catalog') {
            const since = copy === null ? 'the older catalog' : 'the copy';
            print(
              `Loads and syncs after ${since} are in it, and what was revoked or removed since then stays so: keys, feeds, shared links, members, channels and connections. Other changes since then must be made again. Sessions, sign-in links and invitations have ended.`,
            );
          }
        }
        if (damaged.length > 0) process.exitCode = 1;
      } finally {
        end();
      }
    });
}
