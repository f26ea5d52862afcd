import { type Command, InvalidArgumentError } from 'commander';
import { requireProject } from '../../server/catalog/projects.ts';
import type { Day } from '../../server/domain/dates.ts';
import { paceOf } from '../../server/maintenance/pace.ts';
import type { VerifyReport } from '../../server/maintenance/verify.ts';
import { print, printJson, progress, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { runProject, withSyncStores } from '../sync.ts';

interface Options {
  readonly project?: string;
  readonly days: number;
  readonly repair?: boolean;
  readonly deep?: boolean;
  readonly json?: boolean;
}

const DAYS = 90;
const MAX_DAYS = 500;

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'compare what is stored with what was loaded: the catalog, all files, the rollups and the journal; or the files of a backup with their hashes',
    )
    .argument('[backup]', 'a target of backup; otherwise the data folder is compared')
    .option('--project <id>', 'only this project; where it is connected, its days are compared with the provider, too')
    .option('--days <n>', 'days that are compared with the provider', readDays, DAYS)
    .option(
      '--repair',
      'rewrite rollups that differ and the journal, move unknown files to the trash, and fetch days again that differ at the provider',
    )
    .option('--deep', 'read all files of an object store, instead of asking it for their sizes and checksums')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('verify', 'verify --repair --json', 'verify --project Fw7kd --days 30', 'verify /mnt/backup'),
    )
    .action(async (backup: string | undefined, { project, days, repair = false, deep = false, json }: Options) => {
      if (backup !== undefined) {
        if (project !== undefined || repair || deep)
          throw new Error('A backup is compared as a whole, without --project, --repair and --deep.');
        await verifyBackups(backup, json === true);
        return;
      }
      const { verify } = await import('../../server/maintenance/verify.ts');
      const { report, end } = progress();
      try {
        const found = await withStores(async (stores) => {
          if (project !== undefined) await requireProject(stores.catalog, project);
          return verify(stores, { repair, deep, report, ...(project === undefined ? {} : { project }) });
        });
        const compared = project === undefined ? undefined : await compare(project, { days, repair, report });
        end();
        if (json) printJson({ ...found, ...(compared === undefined ? {} : { provider: compared }) });
        else printReport(found, compared);
        if (!found.ok || compared?.ok === false) process.exitCode = 1;
      } finally {
        end();
      }
    });
}

/** Verifies a backup, without the data folder. */
async function verifyBackups(path: string, json: boolean): Promise<void> {
  const { verifyBackup } = await import('../../server/maintenance/verify-backup.ts');
  const { report, end } = progress({ lines: true });
  try {
    const found = await verifyBackup(path, report);
    end();
    if (json) printJson(found);
    else {
      for (const { message, backups } of found.problems) {
        print(`${message} It is part of ${backups.length === 1 ? 'the backup' : 'the backups'} ${backups.join(', ')}.`);
      }
      const files = `${found.backups} backups, ${found.files.toLocaleString('en')} files, ${(found.bytes / 1e6).toFixed(1)} MB`;
      print(
        `${found.ok ? 'All is in order' : found.backups === 0 ? 'No complete backup' : 'Not all is in order'}: ${files}.`,
      );
    }
    if (!found.ok) process.exitCode = 1;
  } finally {
    end();
  }
}

/** The result of the comparison with the provider. */
interface Compared {
  readonly ok: boolean;
  /** Days whose sums differ at the provider. */
  readonly movedDays: readonly Day[];
  readonly repaired: boolean;
}

/** Compares the days of a connected project with the provider, and with `repair` fetches differing days again. */
async function compare(
  id: string,
  { days, repair, report }: { days: number; repair: boolean; report: (step: string) => void },
): Promise<Compared | undefined> {
  const { findConnected } = await import('../../server/sync/prepare.ts');
  const { compareWithProvider } = await import('../../server/sync/compare.ts');
  return withSyncStores(async (stores) => {
    const connected = await findConnected(stores.catalog, id);
    if (connected === undefined) return undefined;
    const options = { days, now: Date.now, signal: new AbortController().signal };
    report('comparing days with the provider');
    const movedDays = await compareWithProvider(stores, connected, options);
    if (movedDays.length === 0 || !repair) return { ok: movedDays.length === 0, movedDays, repaired: false };
    const onWait = (why: string): void => report(`${id}: ${why}`);
    const result = await runProject(stores, id, { forcedDays: movedDays, onWait });
    if (result !== undefined && result.reason !== null) throw new Error(`Not all was fetched again: ${result.reason}`);
    const left = await compareWithProvider(stores, connected, options);
    return { ok: left.length === 0, movedDays, repaired: left.length === 0 };
  });
}

function printReport(found: VerifyReport, compared: Compared | undefined): void {
  for (const { message } of found.problems) print(message);
  for (const day of compared?.movedDays ?? []) {
    print(`${day} is not what the provider has${compared?.repaired ? '; it was fetched again' : ''}.`);
  }
  const megabytes = (found.bytes / 1e6).toFixed(1);
  const outcome = found.ok && compared?.ok !== false ? 'All is in order' : 'Not all is in order';
  const pace = paceOf(found.files, found.seconds);
  print(`${outcome}: ${found.files.toLocaleString('en')} files, ${megabytes} MB${pace && `; ${pace}`}.`);
}

function readDays(text: string): number {
  const days = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(days >= 1 && days <= MAX_DAYS))
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_DAYS}.`);
  return days;
}
