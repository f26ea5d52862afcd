import { type Command, InvalidArgumentError, Option } from 'commander';
import { AUDIT_ACTIONS, AUDIT_DAYS, type AuditAction, listAudit } from '../../server/catalog/audit.ts';
import { parseDay } from '../../server/domain/dates.ts';
import { isoInstant, toMicroseconds } from '../../server/domain/instants.ts';
import { printJson, printTable, withStores, withUsage } from '../cli.ts';
import { examples } from '../help.ts';
import { readCount } from '../numbers.ts';

interface Options {
  readonly workspace?: string;
  readonly action?: AuditAction;
  readonly since?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('who created, used and revoked keys, and who loaded or removed data');
  command
    .command('list')
    .description(`list the newest entries, newest first; they are kept for ${AUDIT_DAYS} days`)
    .option('--workspace <id>', 'only of this workspace')
    .addOption(new Option('--action <action>', 'only of this kind').choices(AUDIT_ACTIONS))
    .option('--since <day>', 'only from this day (UTC) on', readDay)
    .option('--limit <n>', 'how many entries', readCount, 100)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples('audit list', 'audit list --workspace acme --action key.used --since 2026-11-01 --json'),
    )
    .action(
      async ({
        workspace = null,
        action = null,
        since,
        limit,
        json,
      }: Omit<Options, 'workspace' | 'action'> & { workspace?: string | null; action?: AuditAction | null }) => {
        const from = since === undefined ? 0 : toMicroseconds(Date.parse(since));
        const entries = await withStores((stores) =>
          withUsage(stores, (usage) => listAudit(stores.catalog, usage, { workspace, action, since: from, limit })),
        );
        const rows = entries.map(({ at, workspace, ...entry }) => ({ at: isoInstant(at), workspace, ...entry }));
        if (json) printJson(rows);
        else
          await printTable(
            rows.map(({ details, ...row }) => ({ ...row, details: inWords(details) })),
            'There are no entries.',
          );
      },
    );
}

/** Details on one line. */
function inWords(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

function readDay(text: string): string {
  const day = parseDay(text);
  if (day === undefined) throw new InvalidArgumentError('It must be a day written YYYY-MM-DD.');
  return day;
}
