import { type Command, Option } from 'commander';
import type { Alert } from '../../server/catalog/alerts.ts';
import {
  CHANNEL_EVENTS,
  CHANNEL_KINDS,
  type Channel,
  type ChannelEvent,
  type ChannelKind,
  findChannel,
  listChannels,
} from '../../server/catalog/channels.ts';
import { listDeliveries } from '../../server/catalog/deliveries.ts';
import { requireWorkspace } from '../../server/catalog/workspaces.ts';
import { dayOf, parseDay } from '../../server/domain/dates.ts';
import { DIGEST_PERIODS, type DigestPeriod } from '../../server/domain/digest-periods.ts';
import { HOUR } from '../../server/domain/hours.ts';
import type { Stores } from '../../server/load/stores.ts';
import { commandWriter, print, printJson, printTable, withStores } from '../cli.ts';
import { readDuration } from '../durations.ts';
import { examples } from '../help.ts';
import { perform } from '../operations.ts';

interface AddOptions {
  readonly workspace: string;
  readonly project?: string;
  readonly kind: ChannelKind;
  readonly to: string;
  readonly name?: string;
  readonly event?: ChannelEvent[];
  readonly type?: string[];
  readonly minSeverity?: Alert['severity'];
  readonly json?: boolean;
}

interface DigestOptions {
  readonly period: DigestPeriod;
  readonly asOf?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const EXAMPLE_ID = '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10';
const MAX_DELIVERIES = 200;
const again = (value: string, before: string[] | undefined): string[] => [...(before ?? []), value];

export function addChannels(program: Command): void {
  const command = program.command('channels').description('where alerts, failed syncs and digests are sent');
  command
    .command('add')
    .description('add a channel; the secret of a webhook is shown only once')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--project <id>', 'only what happens to this project')
    .addOption(new Option('--kind <kind>', 'how it is sent').choices(CHANNEL_KINDS).makeOptionMandatory())
    .requiredOption('--to <address>', 'an address of mail, or of a webhook or chat')
    .option('--name <name>', 'its name (default: the host or address)')
    .option(
      '--event <event>',
      `an event to notify it of, repeatable: ${CHANNEL_EVENTS.join(', ')} (default: all but digests)`,
      again,
    )
    .option('--type <type>', 'a type of alerts to notify it of, repeatable (default: all)', again)
    .addOption(
      new Option('--min-severity <severity>', 'only alerts that are at least so serious').choices([
        'info',
        'warning',
        'critical',
      ]),
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'channels add --workspace acme --kind email --to team@acme.example',
        'channels add --workspace acme --kind webhook --to https://hooks.acme.example/ordinate --min-severity warning',
      ),
    )
    .action(async ({ event, type, json, workspace, ...wanted }: AddOptions) => {
      const { channelCreation } = await import('../../server/operations/channels.ts');
      const { shownChannel } = await import('../../server/channels/channels.ts');
      const { channel, secret } = await withStores(async (stores) => {
        await requireWorkspace(stores.catalog, workspace);
        const input = { ...wanted, ...(event && { events: event }), ...(type && { types: type }) };
        return perform(stores, channelCreation, { workspace, input });
      });
      if (json) printJson({ channel: shownChannel(channel), ...(secret && { secret }) });
      else {
        print(`Channel ${channel.id} was added.`);
        if (secret) print(`Its secret, shown this once:\n  ${secret}`);
      }
    });
  command
    .command('list')
    .description('list channels, without the paths of their addresses')
    .option('--workspace <id>', 'of this workspace only')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples('channels list --workspace acme'))
    .action(async ({ workspace, json }: { workspace?: string; json?: boolean }) => {
      const { shownChannel } = await import('../../server/channels/channels.ts');
      const channels = await withStores(async ({ catalog }) => {
        if (workspace !== undefined) await requireWorkspace(catalog, workspace);
        return listChannels(catalog, workspace ?? null);
      });
      const rows = channels.map(shownChannel);
      if (json) printJson(rows);
      else {
        const short = rows.map(({ events, types, ...row }) => ({
          ...row,
          events: events.join(' '),
          types: types?.join(' ') ?? null,
        }));
        await printTable(short, 'There are no channels.');
      }
    });
  withId(command.command('test'), 'send a test at once; fails unless it is accepted').action(
    async (id: string, { json }: { json?: boolean }) => {
      const { channelTest } = await import('../../server/operations/channels.ts');
      const { shownDelivery } = await import('../../server/channels/channels.ts');
      const { delivery } = await withChannel(id, (stores, { workspace }) =>
        perform(stores, channelTest, { workspace, id }),
      );
      if (json) printJson({ delivery: shownDelivery(delivery) });
      if (delivery.state === 'sent') {
        if (!json) print('The test was accepted.');
      } else {
        throw new Error(`The test was not accepted: ${[delivery.status, delivery.answer].filter(Boolean).join(' ')}`);
      }
    },
  );
  withId(command.command('rotate'), 'give a webhook a new secret, shown only once')
    .option('--overlap <time>', 'how long the old one signs too', '24h')
    .action(async (id: string, { overlap, json }: { overlap: string; json?: boolean }) => {
      const { channelRotation, shownRotation } = await import('../../server/operations/channels.ts');
      const input = { overlapHours: readDuration(overlap) / HOUR };
      const made = await withChannel(id, (stores, { workspace }) =>
        perform(stores, channelRotation, { workspace, id, input }),
      );
      const rotated = shownRotation(made);
      if (json) printJson(rotated);
      else {
        print(`The new secret, shown this once:\n  ${rotated.secret}`);
        print(`The old one signs too until ${rotated.oldSecretValidUntil}.`);
      }
    });
  withId(command.command('enable'), 'enable a channel again, for what happens from now on').action(
    async (id: string, { json }: { json?: boolean }) => {
      const { shownChannel } = await import('../../server/channels/channels.ts');
      const { channelChange } = await import('../../server/operations/channels.ts');
      const channel = await withChannel(id, (stores, { workspace }) =>
        perform(stores, channelChange, { workspace, id, input: { enabled: true } }),
      );
      if (json) printJson({ channel: shownChannel(channel) });
      else print('The channel is enabled.');
    },
  );
  withId(command.command('remove'), 'remove a channel with its deliveries').action(
    async (id: string, { json }: { json?: boolean }) => {
      const { channelRemoval } = await import('../../server/operations/channels.ts');
      await withChannel(id, (stores, { workspace }) => perform(stores, channelRemoval, { workspace, id }));
      if (json) printJson({ id, removed: true });
      else print('The channel was removed.');
    },
  );
  command
    .command('deliveries')
    .description('list the newest deliveries, newest first')
    .argument('[id]', 'only those of this channel')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(`channels deliveries ${EXAMPLE_ID}`))
    .action(async (id: string | undefined, { json }: { json?: boolean }) => {
      const { shownDelivery } = await import('../../server/channels/channels.ts');
      const found =
        id === undefined
          ? await withStores(({ catalog }) => listDeliveries(catalog, null, MAX_DELIVERIES))
          : await withChannel(id, ({ catalog }) => listDeliveries(catalog, id, MAX_DELIVERIES));
      const rows = found.map(shownDelivery);
      if (json) printJson(rows);
      else await printTable(rows, 'There are no deliveries.');
    });
  withId(command.command('digest'), 'send the digest of the last week or month at once, whatever its events')
    .addOption(new Option('--period <period>', 'of what').choices(DIGEST_PERIODS).default('week'))
    .option('--as-of <day>', 'the last one before this day (default: today, UTC)')
    .option('--dry-run', 'print it and send nothing')
    .action(async (id: string, { period, asOf, dryRun, json }: DigestOptions) => {
      const day = asOf === undefined ? dayOf(Date.now()) : parseDay(asOf);
      if (day === undefined) throw new Error(`--as-of must be a day written YYYY-MM-DD, not '${asOf}'.`);
      const { sendDigest } = await import('../../server/channels/digest.ts');
      const { body, words, delivery } = await withChannel(id, (stores, channel) =>
        sendDigest(stores, channel, { period, asOf: day, isDry: dryRun === true }, commandWriter()),
      );
      if (delivery === undefined) {
        if (json) printJson(body);
        else print(words);
        return;
      }
      if (json) printJson({ delivery });
      if (delivery.state !== 'sent') {
        throw new Error(`The digest was not accepted: ${[delivery.status, delivery.answer].filter(Boolean).join(' ')}`);
      }
      if (!json) print('The digest was accepted.');
    });
}

function withId(command: Command, description: string): Command {
  return command
    .description(description)
    .argument('<id>', 'id of the channel, from `channels list`')
    .option('--json', 'print one JSON document')
    .addHelpText('after', examples(`channels ${command.name()} ${EXAMPLE_ID}`));
}

async function withChannel<T>(id: string, work: (stores: Stores, channel: Channel) => Promise<T>): Promise<T> {
  return withStores(async (stores) => {
    const channel = await findChannel(stores.catalog, id);
    if (channel === undefined) throw new Error(`There is no channel '${id}'; channels list shows all.`);
    return work(stores, channel);
  });
}
