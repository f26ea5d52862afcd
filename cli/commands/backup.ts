import { type Command, InvalidArgumentError } from 'commander';
import type { BackupOptions } from '../../server/maintenance/backup.ts';
import { print, printJson, printTable, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options extends Pick<BackupOptions, 'keep' | 'link' | 'quick'> {
  readonly json?: boolean;
}

const KEEP = 7;
const MAX_KEEP = 10_000;

export function addBackup(program: Command): void {
  const command = program
    .command('backup')
    .description('back up the catalog and all facts into a folder, wherever they are, beside running servers and loads')
    .argument('<target>', 'a new or empty folder, or one with earlier backups; only files that changed are copied')
    .option('--keep <n>', 'backups that the target keeps; each can be restored', readKeep, KEEP)
    .option(
      '--link',
      'link files instead of copying them if the target is on the same file system: no second copy on disk',
    )
    .option('--quick', 'trust files of the size that an earlier backup compared, and do not read them again')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      `${examples('backup /mnt/backup', 'backup /mnt/backup --keep 30', 'backup list /mnt/backup')}

Stored lists and the usage database are not part of a backup. Files of credentials are elsewhere, and not part of it either.`,
    )
    .action(async (target: string, { keep, link = false, quick = false, json }: Options) => {
      const { backup } = await import('../../server/maintenance/backup.ts');
      const { report, end } = progress({ lines: true });
      try {
        const done = await withStores((stores) => backup(stores, { target, keep, link, quick, report }));
        end();
        // What is there was backed up, but who watches the exit code must look.
        if (done.lost.length > 0) process.exitCode = 1;
        if (json) {
          printJson(done);
          return;
        }
        for (const { file, damage } of done.lost) print(`'${file}' is damaged: ${damage}. It is not in the backup.`);
        if (done.lost.length > 0) print("'ordinate verify' says how to repair it. No earlier backup was removed.");
        for (const warning of done.warnings) print(`Warning: ${warning}`);
        const linked = done.linked > 0 ? `, ${done.linked.toLocaleString('en')} linked` : '';
        print(
          `Backed up ${done.files.toLocaleString('en')} files, ${megabytes(done.bytes)}, to ${done.target} in ${done.seconds} s; new: ${done.copied.toLocaleString('en')} files${linked}, ${megabytes(done.copiedBytes)}.`,
        );
        const removed = done.removed.length > 0 ? `; ${done.removed.length} removed` : '';
        print(`It is ${done.id}; ${done.kept} kept${removed}.`);
      } finally {
        end();
      }
    });
  command
    .command('list')
    .description('list the backups of a folder, oldest first')
    .argument('<target>', 'the folder')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('backup list /mnt/backup', 'backup list /mnt/backup --json'))
    .action(async (target: string, _options: unknown, self: Command) => {
      // The parent command has an option of the same name, which takes it if it comes first.
      const { json } = self.optsWithGlobals<{ json?: boolean }>();
      const { listBackups } = await import('../../server/maintenance/list-backups.ts');
      const rows = await listBackups(target);
      if (json) printJson(rows);
      else {
        await printTable(
          rows.map(({ bytes, copiedBytes, ...row }) => ({
            ...row,
            size: bytes === null ? '' : megabytes(bytes),
            new: copiedBytes === null ? '' : megabytes(copiedBytes),
          })),
          'It has no complete backup.',
        );
      }
    });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function readKeep(text: string): number {
  const keep = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(keep >= 1 && keep <= MAX_KEEP))
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_KEEP}.`);
  return keep;
}
