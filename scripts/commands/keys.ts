import type { Command } from 'commander';
import { createKey, type Key, listKeys, revokeKey } from '../../server/catalog/keys.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { print, printJson, printTable, withStores, withUsage } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly workspace: string;
  readonly by?: string;
  readonly json?: boolean;
}

export function addKeys(program: Command): void {
  const command = program.command('keys').description('create, list and revoke API keys');
  command
    .command('create')
    .description('create a key and print it; it is shown only once')
    .requiredOption('--workspace <id>', 'the workspace that the key reads')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--by <email>', 'the member who creates it; must be an owner or admin')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'keys create --workspace acme --name dashboard',
        'keys create --workspace acme --name dashboard --by owner@acme.example',
      ),
    )
    .action(
      async ({ workspace, name, by = null, json }: Omit<Options, 'by'> & { name: string; by?: string | null }) => {
        const at = toMicroseconds(Date.now());
        const made = await withStores(({ catalog }) => createKey(catalog, { workspace, name, by, at }));
        if (json) printJson({ ...made, createdAt: isoInstant(made.createdAt) });
        else print(`The key '${name}', shown this once:\n  ${made.key}`);
      },
    );
  command
    .command('list')
    .description('list the keys of a workspace')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('keys list --workspace acme'))
    .action(async ({ workspace, json }: Options) => {
      const rows = (
        await withStores((stores) => withUsage(stores, (usage) => listKeys(stores.catalog, usage, workspace)))
      ).map(toRow);
      if (json) printJson(rows);
      else await printTable(rows, `Workspace '${workspace}' has no keys yet.`);
    });
  command
    .command('revoke')
    .description('revoke a key immediately and permanently')
    .argument('<key-id>', 'id of the key, from `keys list`')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--by <email>', 'the member who revokes it; must be an owner or admin')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('keys revoke 0b9f6f3e-6c1b-4f0e-9c7e-2f4f5d8b6a10 --workspace acme'))
    .action(async (id: string, { workspace, by, json }: Options) => {
      const at = toMicroseconds(Date.now());
      await withStores(({ catalog }) => revokeKey(catalog, { id, workspace, by: by ?? null, at }));
      if (json) printJson({ id, revoked: true });
      else print(`The key ${id} is revoked.`);
    });
}

function toRow({ id, name, prefix, createdAt, lastUsedAt, revokedAt }: Key): object {
  return {
    id,
    name,
    prefix,
    createdAt: isoInstant(createdAt),
    lastUsedAt: isoInstantOrNull(lastUsedAt),
    revokedAt: isoInstantOrNull(revokedAt),
  };
}
