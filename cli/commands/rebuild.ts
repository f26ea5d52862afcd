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
    .description('recreate a lost or outdated catalog from the journal beside the facts')
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
        'There is no journal to make it from: restore the database with its own tools (pg_restore, or recovery to an instant).',
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
        const { rebuilt, lost, projects, files, restored, damaged } = await rebuild(dataFolder, { report });
        end();
        if (options.json) printJson({ rebuilt, lost, projects, files, restored, damaged });
        else {
          for (const file of restored) print(`'${file}' was restored from the trash.`);
          for (const { project, table, part, damage } of damaged) {
            print(
              `${table} of project ${project}, ${part}, is damaged: ${damage}. Restore it from a backup or load it again.`,
            );
          }
          print(`The ${rebuilt} was rebuilt: ${projects} projects, ${files} files. Start running servers again.`);
          if (lost.length > 0) {
            print(`Not in the journal, and so lost: ${lost.map((table) => table.replaceAll('_', ' ')).join(', ')}.`);
            print(
              "Alerts come back when a project is evaluated, by a running server or by 'ordinate alerts evaluate': under the same ids those whose cause began in the last 42 final days (34 days for stopped clicks), those about surfaces without new days, however old, and those that were loaded. If an older cause still shows in these days, its alert opens again on a later day, under another id. All others are lost: those that had resolved before these days, and those about pages in the index, until the pages are inspected again.",
            );
            print(
              'Set again what people had set: members, keys, feeds, shared links, connections, channels, saved views, tags, favourites, dismissed findings, and the limits and retention of workspaces.',
            );
          } else if (rebuilt === 'catalog') {
            print(
              'What the journal does not have, such as keys, members, connections and alerts, is that of the older catalog: what was changed since then, other than by loads and edits of a project, must be done again. Keys that were revoked since are valid again, and so are feeds, shared links and members: revoke or remove them again.',
            );
          }
        }
        if (damaged.length > 0) process.exitCode = 1;
      } finally {
        end();
      }
    });
}
