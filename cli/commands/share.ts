import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { findShare, listShares, SHARE_SCREENS } from '../../server/catalog/keys.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { isoInstant, toMicroseconds } from '../../server/domain/instants.ts';
import { shareAddress, shareCreation, shareRevocation, shownShare } from '../../server/operations/shares.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';
import { serverOf } from './login.ts';

interface CreateOptions {
  readonly project: string;
  readonly screens: string;
  readonly hideQueries?: boolean;
  readonly expires?: string;
  readonly passwordFile?: string;
  readonly by?: string;
  readonly json?: boolean;
}

const HOURS = { d: 24, h: 1 } as const;

export function addShareCommands(program: Command): void {
  const command = program.command('share').description('links that show a part of one project to whoever has them');
  command
    .command('create')
    .description('create a share and print its address, which is shown only once')
    .requiredOption('--project <id>', 'what it shows')
    .requiredOption('--screens <screens>', `separated by commas, some of ${SHARE_SCREENS.join(', ')}`)
    .option('--hide-queries', 'show no text of a query')
    .option('--expires <when>', 'in 30d or 12h, or a day or instant (default: never)')
    .option('--password-file <file>', 'a file with a password that visitors must type')
    .option('--by <email>', 'the owner or admin who shares it')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'share create --project Fw7kd --screens overview,pages --expires 30d',
        'share create --project Fw7kd --screens overview,queries --password-file /etc/ordinate/share-password',
      ),
    )
    .action(async ({ project, screens, hideQueries = false, expires, passwordFile, by, json }: CreateOptions) => {
      const wanted = {
        screens: screens.split(',').map((screen) => screen.trim()),
        hideQueries,
        password: passwordFile === undefined ? null : readFileSync(passwordFile, 'utf8').trim(),
      };
      const made = await withStores(async (stores) => {
        const { workspaceId: workspace } = await requireProject(stores.catalog, project);
        const input = { ...wanted, expiresAt: expires === undefined ? null : endOf(expires, Date.now()) };
        const of = `the workspace '${workspace}'`;
        const request = {
          workspace,
          project,
          input,
          by: by === undefined ? undefined : { email: by, may: 'share a project', of },
        };
        const { share, token } = await perform(stores, shareCreation, request);
        const { settings } = stores;
        return { share: shownShare(share), url: shareAddress(settings.publicUrl ?? serverOf(settings), token) };
      });
      if (json) printJson(made);
      else print(`The share ${made.share.id}, its address shown this once:\n  ${made.url}`);
    });
  command
    .command('list')
    .description('list shares, without their addresses')
    .option('--project <id>', 'of this project only')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('share list --project Fw7kd'))
    .action(async ({ project, json }: { project?: string; json?: boolean }) => {
      const shares = await withStores(({ catalog }) => listShares(catalog, project ?? null));
      if (json) printJson(shares.map(shownShare));
      else await printTable(shares.map(shownShare), 'There are no shares yet.');
    });
  command
    .command('revoke')
    .description('end a share at once')
    .argument('<id>', 'id of the share, from `share list`')
    .addHelpText('after', examples('share revoke 7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10'))
    .action(async (id: string) => {
      await withStores(async (stores) => {
        const share = await findShare(stores.catalog, id);
        if (share === undefined) throw new Error(`There is no share '${id}'.`);
        await perform(stores, shareRevocation, { workspace: share.workspace, project: share.project, id });
      });
      print('The share has ended.');
    });
}

/** When a share ends, as a day or instant. */
function endOf(text: string, now: number): string {
  const [, count, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  if (count === undefined) return text;
  return isoInstant(toMicroseconds(now + Number(count) * HOURS[unit as keyof typeof HOURS] * 3_600_000));
}
