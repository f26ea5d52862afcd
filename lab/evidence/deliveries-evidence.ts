// npm run deliveries:evidence: what arrives when senders are killed. docs/research/deliveries.md has the results.
import '../../cli/threads.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { perform } from '../../cli/operations.ts';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { announceAlert } from '../../server/catalog/deliveries.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { sendDue } from '../../server/channels/send.ts';
import { loadSnapshot } from '../../server/load/load.ts';
import { channelCreation } from '../../server/operations/channels.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { PROJECT, projectOf, WORKSPACE, WORKSPACES, writeTables } from '../tables.ts';

/** A claim of a killed sender has passed after so many milliseconds. */
const CLAIM = 26_000;
const CHANNELS = 3;

/** A receiver that knows what it got, and whether it got something twice at a time. */
class Receiver {
  readonly bodies = new Map<string, string>();
  received = 0;
  differing = 0;
  twiceAtATime = 0;
  readonly #open = new Map<string, number>();
  readonly server: Server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    const before = this.#open.get(id) ?? 0;
    if (before > 0) this.twiceAtATime++;
    this.#open.set(id, before + 1);
    response.on('close', () => this.#open.set(id, this.#open.get(id)! - 1));
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      this.received++;
      if (this.bodies.has(id) && this.bodies.get(id) !== body) this.differing++;
      this.bodies.set(id, body);
      setTimeout(() => response.writeHead(204).end(), Math.random() * 10);
    });
  });
}

/** Opens two alerts in one transaction. */
async function announce(catalog: OpenCatalog, round: number): Promise<void> {
  const project = await requireProject(catalog, PROJECT);
  const fields = { type: 'traffic_drop', kind: 'Traffic drop', severity: 'warning', title: 'Clicks fell' } as const;
  const none = { keywordId: null, url: null, resolvedAt: null };
  await catalog.transaction(async (tx) => {
    for (const id of [`${round}-a`, `${round}-b`]) {
      const times = { date: '2026-01-01', createdAt: Date.now() * 1000 };
      await announceAlert(tx, 'alert.opened', project, { id, ...fields, body: 'By half.', ...none, ...times });
    }
  });
}

/** Kills senders anywhere between a commit, the sending and the note of it; two of them at a time. */
async function killSenders(kills: number, folder: string, receiver: Receiver): Promise<void> {
  await new Promise<void>((done) => void receiver.server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(receiver.server.address() as AddressInfo).port}`;
  const env = {
    ...process.env,
    ORDINATE_DATA: join(folder, 'data'),
    ORDINATE_SECRETS_KEY_FILE: join(folder, 'keys', 'secrets.key'),
    ORDINATE_DELIVERY_LOOPBACK: 'on',
  };
  const settings = readSettings(env);
  await using catalog = await openCatalog(settings);
  writeTables(join(folder, 'rows'), { workspaces: WORKSPACES, projects: [projectOf(PROJECT)] });
  await loadSnapshot({ settings, catalog }, { folder: join(folder, 'rows') });
  for (let index = 0; index < CHANNELS; index++) {
    const input = { kind: 'webhook', to: `${origin}/${index}` };
    await perform({ settings, catalog }, channelCreation, { workspace: WORKSPACE, input });
  }
  let [skew, killed, round] = [0, 0, 0];
  const started = performance.now();
  while (killed < kills) {
    await announce(catalog, ++round);
    const senders = [1, 2].map(() => fork(import.meta.filename, ['--ahead', String(skew)], { env, stdio: 'inherit' }));
    await Promise.all(senders.map((sender) => once(sender, 'message')));
    for (const sender of senders) sender.send('go');
    await sleep(Math.random() * 60);
    killed += (await Promise.all(senders.map(kill))).filter(Boolean).length;
    // The clock jumps: forward past the claims, now and then back by an hour.
    skew += round % 10 === 0 ? -3_600_000 : CLAIM;
    if (round % 50 === 0) process.stderr.write(`${killed} of ${kills} killed\n`);
  }
  const { bodies, received, differing, twiceAtATime } = receiver;
  const again = received - bodies.size;
  await sendDue(catalog, {
    settings,
    random: () => 0.5,
    onError: fail,
    sleep: (ms) => sleep(Math.min(ms, 20)),
    now: () => Date.now() + skew + 86_400_000,
    signal: new AbortController().signal,
  });
  const wanted = round * 2 * CHANNELS;
  print(`\n${killed} senders killed in ${Math.round((performance.now() - started) / 1000)} s, two at a time:`);
  print(`deliveries ${wanted}, arrived ${bodies.size}, again ${again},`);
  print(`with other bytes ${differing}, twice at a time ${twiceAtATime}`);
  if (bodies.size !== wanted || differing + twiceAtATime > 0) process.exitCode = 1;
}

async function kill(sender: ChildProcess): Promise<boolean> {
  const exited = once(sender, 'exit');
  if (sender.exitCode !== null) return false;
  sender.kill('SIGKILL');
  await exited;
  return true;
}

/** A sender whose clock is so many milliseconds ahead; it begins when it is told to, and is to be killed. */
async function send(ahead: number): Promise<never> {
  const settings = readSettings(process.env);
  await using catalog = await openCatalog(settings);
  const told = once(process, 'message');
  process.send!('ready');
  await told;
  for (;;) {
    await sendDue(catalog, {
      settings,
      now: () => Date.now() + ahead,
      signal: new AbortController().signal,
      sleep: (ms) => sleep(ms),
      random: Math.random,
      onError: fail,
    });
    await sleep(5);
  }
}

const { kills, ahead } = new Command('deliveries:evidence')
  .option('--kills <n>', 'senders to kill', Number, 1000)
  .addOption(new Option('--ahead <ms>', 'send, with this clock').argParser(Number).hideHelp())
  .parse()
  .opts<{ kills: number; ahead?: number }>();
if (ahead !== undefined) await send(ahead);
const folder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
const receiver = new Receiver();
try {
  await killSenders(kills, folder, receiver);
} catch (error) {
  fail(error);
} finally {
  receiver.server.closeAllConnections();
  receiver.server.close();
  rmSync(folder, { recursive: true, force: true });
}
