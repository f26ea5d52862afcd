import { type Command, Option } from 'commander';
import { type CreatedKey, KEY_SCOPES, type Key, type KeyScope, listKeys } from '../../server/catalog/keys.ts';
import { requireWorkspace } from '../../server/catalog/workspaces.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { keyCreation, keyRevocation, keyRotation, shownCreated } from '../../server/operations/keys.ts';
import { print, printJson, printTable, withStores, withUsage } from '../cli.ts';
import { readDuration, readEnd } from '../durations.ts';
import { examples } from '../help.ts';
import { type Named, perform } from '../operations.ts';

interface Options {
  readonly workspace: string;
  readonly by?: string;
  readonly json?: boolean;
}

interface CreateOptions extends Options {
  readonly name: string;
  readonly expires?: string;
  readonly project?: readonly string[];
  readonly scope?: KeyScope;
}

export function addKeys(program: Command): void {
  const command = program.command('keys').description('create, list, rotate and revoke API keys');
  command
    .command('create')
    .description('create a key and print it; it is shown only once')
    .requiredOption('--workspace <id>', 'the workspace that the key reads')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--expires <when>', 'when it ends: after days or hours such as 90d or 12h, or on a day such as 2027-06-30')
    .option('--project <id...>', 'let it read only these projects of the workspace')
    .addOption(new Option('--scope <scope>', 'let it run SQL, where the server allows it').choices(KEY_SCOPES))
    .option('--by <email>', 'the member who creates it; must be an owner or admin')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'keys create --workspace acme --name dashboard',
        'keys create --workspace acme --name contractor --expires 90d --project Fw7kd --by owner@acme.example',
      ),
    )
    .action(async ({ workspace, name, expires, project, scope, by, json }: CreateOptions) => {
      const expiresAt = expires === undefined ? null : toMicroseconds(readEnd(expires, Date.now()));
      const input = { name, expiresAt, projects: project ?? null, scope: scope ?? null };
      const made = await withStores(async (stores) => {
        await requireWorkspace(stores.catalog, workspace);
        return perform(stores, keyCreation, { workspace, input, ...inNameOf(by) });
      });
      if (json) printJson(shownCreated(made));
      else print(`The key '${name}', shown this once:\n  ${made.key}${until(made)}`);
    });
  command
    .command('rotate')
    .description('replace a key by a new one with the same name, projects and lifetime; feeds move to the new key')
    .argument('<key-id>', 'id of the key, from `keys list`')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--overlap <time>', 'how long the old key stays valid, in days or hours', '24h')
    .option('--by <email>', 'the member who rotates it; must be an owner or admin')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('keys rotate 0b9f6f3e-6c1b-4f0e-9c7e-2f4f5d8b6a10 --workspace acme --overlap 7d'))
    .action(async (id: string, { workspace, overlap, by, json }: Options & { overlap: string }) => {
      const overlapEndsAt = toMicroseconds(Date.now() + readDuration(overlap));
      const wanted = { workspace, id, input: { overlapEndsAt }, missing: missing(workspace, id), ...inNameOf(by) };
      const { made } = await withStores((stores) => perform(stores, keyRotation, wanted));
      if (json) printJson({ ...shownCreated(made), replaces: id, oldKeyValidUntil: isoInstant(overlapEndsAt) });
      else {
        print(`The new key '${made.name}', shown this once:\n  ${made.key}${until(made)}`);
        print(`The old key stays valid until ${isoInstant(overlapEndsAt)}.`);
      }
    });
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
      const wanted = { workspace, id, missing: missing(workspace, id), ...inNameOf(by) };
      await withStores((stores) => perform(stores, keyRevocation, wanted));
      if (json) printJson({ id, revoked: true });
      else print(`The key ${id} is revoked.`);
    });
}

function missing(workspace: string, id: string): string {
  return `Workspace '${workspace}' has no key with the id '${id}'.`;
}

function inNameOf(email: string | undefined): Pick<Named, 'by'> {
  return email === undefined ? {} : { by: { email, may: 'create or revoke keys', of: 'the workspace' } };
}

function until({ expiresAt }: CreatedKey): string {
  return expiresAt === null ? '' : `\nIt is valid until ${isoInstant(expiresAt)}.`;
}

function toRow({
  id,
  name,
  prefix,
  projects,
  scope,
  createdAt,
  expiresAt,
  lastUsedAt,
  revokedAt,
  replacedBy,
}: Key): object {
  return {
    id,
    name,
    prefix,
    projects,
    scope,
    createdAt: isoInstant(createdAt),
    expiresAt: isoInstantOrNull(expiresAt),
    lastUsedAt: isoInstantOrNull(lastUsedAt),
    revokedAt: isoInstantOrNull(revokedAt),
    replacedBy,
  };
}
