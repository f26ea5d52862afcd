import { type Command, InvalidArgumentError } from 'commander';
import { listFeeds, scopeOfKey } from '../../server/catalog/keys.ts';
import { isoInstant, isoInstantOrNull, toMicroseconds } from '../../server/domain/instants.ts';
import { print, printJson, printTable, withStores } from '../cli.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';

interface CreateOptions {
  readonly key: string;
  readonly path: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function addFeeds(program: Command): void {
  const command = program
    .command('feeds')
    .description('addresses that answer one question as CSV without a header, for spreadsheets');
  command
    .command('create')
    .description('create a feed and print its address; it is shown only once, and anyone who has it can read the feed')
    .requiredOption('--key <key-id>', 'id of the key that it reads with, from `keys list`; it ends with the key')
    .requiredOption('--path <path>', 'what it answers: a path of the API with its parameters')
    .option(
      '--url <address>',
      'where clients reach the server; ORDINATE_PUBLIC_URL or http://HOST:PORT by default',
      readAddress,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        "feeds create --key 0b9f6f3e-6c1b-4f0e-9c7e-2f4f5d8b6a10 --path '/projects/Fw7kd/site.csv?period=3m' --url https://ordinate.example.com",
      ),
    )
    .action(async ({ key: keyId, path, url, json }: CreateOptions) => {
      // Imports all API endpoints, which other commands need not.
      const { feedAddress, feedCreation } = await import('../../server/operations/feeds.ts');
      const made = await withStores(async (stores) => {
        const { catalog, settings } = stores;
        const { workspace } = await scopeOfKey(catalog, keyId, toMicroseconds(Date.now()));
        const { id, token } = await perform(stores, feedCreation, { workspace, input: { keyId, path } });
        const server = url ?? settings.publicUrl ?? `http://${settings.host}:${settings.port}`;
        return { id, url: feedAddress(server, token), isServed: settings.feeds };
      });
      if (json) {
        printJson({ id: made.id, url: made.url });
        return;
      }
      print(`The feed ${made.id}, its address shown this once:\n  ${made.url}`);
      if (!made.isServed) print('It is answered by servers that are started with ORDINATE_FEEDS=on.');
    });
  command
    .command('list')
    .description('list feeds, without their addresses')
    .option('--workspace <id>', 'of this workspace only')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('feeds list --workspace acme'))
    .action(async ({ workspace, json }: { workspace?: string; json?: boolean }) => {
      const feeds = await withStores(({ catalog }) => listFeeds(catalog, workspace ?? null));
      const rows = feeds.map(({ createdAt, revokedAt, ...feed }) => ({
        ...feed,
        createdAt: isoInstant(createdAt),
        revokedAt: isoInstantOrNull(revokedAt),
      }));
      if (json) printJson(rows);
      else await printTable(rows, 'There are no feeds yet.');
    });
  command
    .command('revoke')
    .description('revoke a feed immediately and permanently')
    .argument('<feed-id>', 'id of the feed, from `feeds list`')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('feeds revoke 5d1c3a4e-2f0b-4b7e-8a51-0c9d2e7f6b13'))
    .action(async (id: string, { json }: { json?: boolean }) => {
      const { feedRevocation } = await import('../../server/operations/feeds.ts');
      await withStores(async (stores) => {
        const feed = (await listFeeds(stores.catalog, null)).find((one) => one.id === id);
        if (feed === undefined) throw new Error(`There is no feed with the id '${id}'.`);
        await perform(stores, feedRevocation, { workspace: feed.workspace, id });
      });
      if (json) printJson({ id, revoked: true });
      else print(`The feed ${id} is revoked.`);
    });
}

function readAddress(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new InvalidArgumentError('It must be an address such as https://ordinate.example.com.');
  }
  return text.replace(/\/+$/, '');
}
