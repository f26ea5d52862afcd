import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { perform } from '../../cli/operations.ts';
import type { Alert } from '../../server/catalog/alerts.ts';
import type { ChannelEvent } from '../../server/catalog/channels.ts';
import { announceAlert } from '../../server/catalog/deliveries.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import type { Resolve } from '../../server/channels/addresses.ts';
import { writeDigest } from '../../server/channels/digest.ts';
import { dueDigests } from '../../server/channels/due-digests.ts';
import { type Sent, sendDue } from '../../server/channels/send.ts';
import { channelCreation } from '../../server/operations/channels.ts';
import { withPresets } from '../../server/presets/with-presets.ts';
import { command } from '../command.ts';
import { type Receiver, startReceiver } from '../fakes/receiver.ts';
import { startMailServer } from '../fakes/smtp.ts';
import { makeWorld, NOW, PROJECT, type Row, temporaryFolder, type World } from '../world.ts';

/** An alert as an evaluation opens it. */
export function alertOf(id: string, more: Partial<Alert> = {}): Alert {
  return {
    ...{ id, type: 'traffic_drop', kind: 'Traffic drop', severity: 'warning', title: 'Clicks fell', body: 'By half.' },
    ...{ date: '2026-03-14', keywordId: null, url: null, createdAt: NOW * 1000, resolvedAt: null },
    ...more,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are picked from
type Printed = Record<string, any>;

/** A world with a receiver and a clock; `cli` runs commands on it. */
export async function makeScene(
  t: Test,
  environment: NodeJS.ProcessEnv = {},
  projects: readonly Row[] = [PROJECT, { ...PROJECT, id: 'Proj2', domain: 'other.example' }],
  tables: Readonly<Record<string, readonly Row[]>> = {},
) {
  const receiver: Receiver = await startReceiver(t);
  const settings: NodeJS.ProcessEnv = {
    ORDINATE_SECRETS_KEY_FILE: join(temporaryFolder(t), 'keys', 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
    ORDINATE_PUBLIC_URL: 'https://reports.example.com',
    ...environment,
  };
  const world: World = await makeWorld(t, { projects, ...tables }, { environment: settings });
  const cli = (...words: readonly string[]) => command({ ...settings, ORDINATE_DATA: world.dataFolder }, ...words);
  const json = async (...words: readonly string[]): Promise<Printed> => {
    const { code, stdout, stderr } = await cli(...words, '--json');
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as Printed;
  };
  const rows = async (...words: readonly string[]): Promise<Readonly<Record<string, string>>[]> =>
    (await json(...words)) as never;
  const clock = { at: NOW };
  const errors: unknown[] = [];
  return {
    ...{ world, receiver, settings, cli, json, rows, clock, errors },
    /** Adds a channel to the receiver, at a path. */
    add: async (kind: string, path: string, ...options: readonly string[]) =>
      json('channels', 'add', '--workspace', 'acme', '--kind', kind, '--to', receiver.origin + path, ...options),
    /** Opens or resolves alerts in one transaction. */
    announce: async (event: 'alert.opened' | 'alert.resolved', alerts: readonly Alert[], project = 'Proj1') => {
      const found = await requireProject(world.catalog, project);
      await world.catalog.transaction(async (tx) => {
        for (const alert of alerts) await announceAlert(tx, event, found, alert);
      });
    },
    /** Sends what is due at the time of the clock. */
    send: (options: { resolve?: Resolve; signal?: AbortSignal; random?: number } = {}): Promise<Sent> =>
      sendDue(world.catalog, {
        settings: world.settings,
        now: () => clock.at,
        signal: options.signal ?? new AbortController().signal,
        sleep: (_, signal) => sleep(20, undefined, { signal }).catch(() => {}),
        random: () => options.random ?? 0.5,
        onError: (error) => errors.push(error),
        ...(options.resolve && { resolve: options.resolve }),
      }),
  };
}

/** A scene with a mail server, and a channel that sends to it. */
export async function makeMailScene(
  t: Test,
  { credentials = '', ...environment }: NodeJS.ProcessEnv & { credentials?: string } = {},
  ...rows: [projects?: readonly Row[], tables?: Readonly<Record<string, readonly Row[]>>]
) {
  const server = await startMailServer(t);
  const ORDINATE_SMTP_URL = `smtp://${credentials}127.0.0.1:${server.port}`;
  const settings = { ORDINATE_SMTP_URL, ORDINATE_MAIL_FROM: 'reports@example.com', ...environment };
  const scene = await makeScene(t, settings, ...rows);
  const words = ['channels', 'add', '--workspace', 'acme', '--kind', 'email', '--to', 'Team@Acme.example'];
  const { channel } = await scene.json(...words);
  return { ...scene, server, channel };
}

/** Channels and their digests at the time of a scene's clock. */
export function digestsOf({ world, receiver, clock }: Awaited<ReturnType<typeof makeScene>>) {
  const due = () => dueDigests(world.catalog, clock.at);
  return {
    due,
    /** Adds a channel at the time of the clock. */
    addNow: async (path: string, ...events: ChannelEvent[]) => {
      const input = { kind: 'webhook', to: receiver.origin + path, events };
      const wanted = { workspace: 'acme', input, at: clock.at * 1000 };
      return (await perform(world, channelCreation, wanted)).channel;
    },
    /** Writes what is due, as the job does. */
    write: async () => {
      const found = await due();
      const { settings, catalog } = world;
      const log = { info: () => {}, warn: () => {} };
      return withPresets({ settings, catalog, log, now: () => clock.at }, async (sources) => {
        const written: boolean[] = [];
        for (const digest of found) written.push(await writeDigest(sources, digest, new AbortController().signal));
        return written;
      });
    },
  };
}
