import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { RestoreReport } from '../../server/maintenance/restore.ts';
import type { StoresRestoreReport } from '../../server/maintenance/restore-stores.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { print, printJson, progress } from '../cli.ts';
import { examples } from '../help.ts';

type Report = (step: string) => void;

interface Options {
  readonly data?: string;
  readonly at: string;
  readonly json?: boolean;
}

export function addRestore(program: Command): void {
  program
    .command('restore')
    .description('restore a backup into a new or empty folder, or into an empty database and an object store')
    .argument('<backup>', 'a target of backup')
    .option(
      '--data <folder>',
      'a new or empty folder, which becomes a data folder; without it, the backup is restored into ORDINATE_CATALOG, an empty database, and the files into ORDINATE_STORAGE',
    )
    .option('--at <time>', "the newest backup until a day, an instant or an id of 'backup list'", 'latest')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('restore /mnt/backup --data ./restored', 'restore /mnt/backup --data ./restored --at 2026-03-22', 'restore /mnt/backup')}

A backup of a database and an object store can be restored into a folder too, such as to look at it on another machine.`,
    )
    .action(async (backup: string, { data, at, json }: Options) => {
      const { report, end } = progress({ lines: true });
      try {
        const done = await (data === undefined ? intoStores(backup, at, report) : intoFolder(backup, data, at, report));
        end();
        if (json) {
          printJson(done);
          return;
        }
        const { files, bytes, projects, time } = done;
        const isFolder = 'dataFolder' in done;
        const to = isFolder ? done.dataFolder : `${done.catalog} and ${done.storage}`;
        print(
          `Restored ${projects.toLocaleString('en')} projects, ${files.toLocaleString('en')} files, ${(bytes / 1e6).toFixed(1)} MB, as they were at ${time}, to ${to}.`,
        );
        for (const file of done.lost)
          print(`Warning: the backup has no '${file}': it was damaged or missing when the backup was made.`);
        if (done.lost.length > 0) print("Days are missing; 'ordinate verify' there says how to repair them.");
        const how = isFolder ? `Start the server with ORDINATE_DATA=${to}.` : 'Start the nodes.';
        const revoked =
          isFolder && done.revocationsOf !== null
            ? `What was revoked or removed since then according to ${done.revocationsOf} stays so: keys, feeds, shared links, members, channels and connections.`
            : 'Keys, feeds, shared links, members, channels and connections that were revoked or removed since then are valid again: revoke or remove them again.';
        print(`${how} ${revoked}`);
        if (isFolder && done.revocationsOf === null && usedFolder() === done.dataFolder)
          print(
            'Warning: ORDINATE_DATA names the restored folder, which was empty. If you still have the old one, name that in ORDINATE_DATA and restore again, into another folder: what it has recorded is revoked again.',
          );
      } finally {
        end();
      }
    });
}

async function intoFolder(backup: string, dataFolder: string, at: string, report: Report): Promise<RestoreReport> {
  const { restore } = await import('../../server/maintenance/restore.ts');
  return restore({ backup, dataFolder, at, usedFolder: usedFolder(), report });
}

function usedFolder(): string {
  return resolve(readSettings(process.env).dataFolder);
}

async function intoStores(backup: string, at: string, report: Report): Promise<StoresRestoreReport> {
  const settings = readSettings(process.env);
  if (settings.catalogUrl === '') {
    throw new Error(
      'Say where to restore to: --data names a new or empty folder; without it, ORDINATE_CATALOG must be the address of an empty PostgreSQL database.',
    );
  }
  const { restoreStores } = await import('../../server/maintenance/restore-stores.ts');
  return restoreStores(settings, { backup, at, report });
}
