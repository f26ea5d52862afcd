// npm run deliveries:evidence: kills of senders, and what deliveries cost those who ask. docs/research/deliveries.md has the results.
import '../../cli/threads.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import { loadDemo } from '../../cli/commands/demo.ts';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { createKey } from '../../server/catalog/keys.ts';
import { openCatalog } from '../../server/catalog/open-catalog.ts';
import { announceAlert } from '../../server/catalog/outbox.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { addChannel } from '../../server/channels/channels.ts';
import { sendDue } from '../../server/channels/send.ts';
import { readSettings, type Settings } from '../../server/settings/settings.ts';
import { startServer } from '../bench/ordinate.ts';
import { Receiver } from './receiver.ts';

const PROJECT = 'Fw7kd';
const SENDER = fileURLToPath(new URL('./send-deliveries.ts', import.meta.url));
/** A claim of a killed sender has passed after so many milliseconds. */
const CLAIM = 26_000;

interface Options {
  readonly kills: number;
  readonly deliveries: number;
  readonly rows: number;
  readonly only?: string;
}

const program = new Command('deliveries:evidence')
  .option('--kills <n>', 'senders to kill', Number, 1000)
  .option('--deliveries <n>', 'deliveries beside requests', Number, 10_000)
  .option('--rows <n>', 'delivered rows to forget', Number, 1_000_000)
  .option('--only <part>', 'kills, load or prune');

interface Scene {
  readonly settings: Settings;
  readonly environment: NodeJS.ProcessEnv;
  readonly catalog: OpenCatalog;
  readonly receiver: Receiver;
  readonly origin: string;
}

async function withScene(work: (scene: Scene) => Promise<void>, delay: () => number = () => 0): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ordinate-evidence-'));
  const receiver = new Receiver(delay);
  try {
    const origin = await receiver.listen();
    const environment = {
      ...process.env,
      ORDINATE_DATA: join(folder, 'data'),
      ORDINATE_SECRETS_KEY_FILE: join(folder, 'keys', 'secrets.key'),
      ORDINATE_DELIVERY_LOOPBACK: 'on',
    };
    const settings = readSettings(environment);
    await using catalog = await openCatalog(settings);
    await loadDemo({ settings, catalog }, { evaluate: false });
    await work({ settings, environment, catalog, receiver, origin });
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Adds channels that hear of all alerts. */
async function addChannels({ settings, catalog, origin }: Scene, count: number): Promise<void> {
  const { workspaceId: workspace } = await requireProject(catalog, PROJECT);
  for (let index = 0; index < count; index++) {
    const wanted = { workspace, kind: 'webhook', to: `${origin}/${index}` } as const;
    await addChannel({ settings, catalog }, wanted, { by: 'evidence', at: Date.now() * 1000 });
  }
}

/** Opens alerts in one transaction. */
async function announce(catalog: OpenCatalog, ids: readonly string[]): Promise<void> {
  const project = await requireProject(catalog, PROJECT);
  const fields = { type: 'traffic_drop', kind: 'Traffic drop', severity: 'warning', title: 'Clicks fell' } as const;
  await catalog.transaction(async (tx) => {
    for (const id of ids) {
      const times = { date: '2026-01-01', createdAt: Date.now() * 1000, resolvedAt: null };
      await announceAlert(tx, 'alert.opened', project, {
        id,
        ...fields,
        body: 'By half.',
        keywordId: null,
        url: null,
        ...times,
      });
    }
  });
}

/** Kills senders anywhere between a commit, the sending and the note of it; two of them at a time. */
async function killSenders(kills: number): Promise<void> {
  await withScene(
    async (scene) => {
      const { environment, catalog, receiver, settings } = scene;
      await addChannels(scene, 3);
      let skew = 0;
      let killed = 0;
      let round = 0;
      const started = performance.now();
      while (killed < kills) {
        round++;
        await announce(catalog, [`${round}-a`, `${round}-b`]);
        const senders = [1, 2].map(() => fork(SENDER, [String(skew)], { env: environment, stdio: 'inherit' }));
        await Promise.all(senders.map((sender) => once(sender, 'message')));
        for (const sender of senders) sender.send('go');
        await sleep(Math.random() * 60);
        killed += (await Promise.all(senders.map(kill))).filter(Boolean).length;
        // The clock jumps: forward past the claims, now and then back by an hour.
        skew += round % 10 === 0 ? -3_600_000 : CLAIM;
        if (round % 50 === 0) process.stderr.write(`${killed} of ${kills} killed\n`);
      }
      const duplicates = receiver.received - receiver.bodies.size;
      const left = { settings, random: () => 0.5, onError: fail, sleep: (ms: number) => sleep(Math.min(ms, 20)) };
      const now = (): number => Date.now() + skew + 86_400_000;
      await sendDue(catalog, { ...left, now, signal: new AbortController().signal });
      print(`\n${killed} senders killed in ${Math.round((performance.now() - started) / 1000)} s, two at a time:`);
      print(`deliveries ${round * 2 * 3}, arrived ${receiver.bodies.size}, again ${duplicates},`);
      print(`with other bytes ${receiver.differing}, twice at a time ${receiver.twiceAtATime}`);
      if (receiver.bodies.size !== round * 6 || receiver.differing + receiver.twiceAtATime > 0) process.exitCode = 1;
    },
    () => Math.random() * 10,
  );
}

async function kill(sender: ChildProcess): Promise<boolean> {
  const exited = once(sender, 'exit');
  if (sender.exitCode !== null) return false;
  sender.kill('SIGKILL');
  await exited;
  return true;
}

/** A server, and the keys of its workspace. */
interface Client {
  readonly address: URL;
  readonly keys: readonly string[];
}

/** The 95th percentiles of light requests to each server, by turns, until `until` resolves. In milliseconds. */
async function ask(clients: readonly Client[], until: Promise<unknown>): Promise<{ p95: number[]; count: number }> {
  let isOver = false;
  void until.then(() => {
    isOver = true;
  });
  const times = clients.map((): number[] => []);
  for (let index = 0; !isOver; index++) {
    const path = `/api/v1/projects/${PROJECT}/site?from=2026-01-01&to=2026-01-${10 + (index % 18)}`;
    for (const [number, { address, keys }] of clients.entries()) {
      const began = performance.now();
      const answer = await fetch(new URL(path, address), {
        headers: { authorization: `Bearer ${keys[index % keys.length]}` },
      });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${answer.status} of ${path}`);
      times[number]!.push(performance.now() - began);
    }
    // 20 keys may send 2,400 requests a minute.
    await sleep(28);
  }
  const p95 = times.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)]!);
  return { p95, count: times[0]!.length };
}

/** Starts the server of a scene with its background jobs, for `work`. */
async function withServer({ environment, catalog }: Scene, work: (client: Client) => Promise<void>): Promise<void> {
  const { workspaceId: workspace } = await requireProject(catalog, PROJECT);
  const keys: string[] = [];
  for (let index = 0; index < 20; index++) {
    keys.push((await createKey(catalog, { workspace, name: `key ${index}`, by: null, at: Date.now() * 1000 })).key);
  }
  const settings = { ...environment, ORDINATE_JOBS: 'on' };
  const server = await startServer({ dataFolder: environment['ORDINATE_DATA']!, keys: [], cache: true, settings });
  try {
    await work({ address: server.address, keys });
  } finally {
    await server.stop();
  }
}

/**
 * Asks a server during some work of its background jobs, and by turns another one without that work: what else the
 * machine does delays both.
 */
async function measureBeside(
  scene: Scene,
  name: string,
  work: { begin: () => Promise<void>; isDone: () => boolean },
): Promise<void> {
  await withScene((calm) =>
    withServer(scene, (busy) =>
      withServer(calm, async (idle) => {
        await ask([busy, idle], sleep(8000));
        const before = await ask([busy, idle], sleep(25_000));
        await work.begin();
        const began = performance.now();
        const done = (async () => {
          while (!work.isDone()) await sleep(200);
          return performance.now() - began;
        })();
        const during = await ask([busy, idle], done);
        print(`\n${name}: ${((await done) / 1000).toFixed(1)} s`);
        print('| light requests, p95 | with the work | without, by turns | ratio |');
        print('| --- | --- | --- | --- |');
        for (const [when, { p95, count }] of Object.entries({ before, during })) {
          const [own, other] = p95 as [number, number];
          print(
            `| ${when} (${count} each) | ${own.toFixed(2)} ms | ${other.toFixed(2)} ms | ${(own / other).toFixed(2)} |`,
          );
        }
      }),
    ),
  );
}

async function measureLoad(deliveries: number): Promise<void> {
  await withScene(async (scene) => {
    await addChannels(scene, 10);
    const ids = Array.from({ length: deliveries / 10 }, (_, index) => `alert-${index}`);
    await measureBeside(scene, `${deliveries} deliveries over 10 channels`, {
      begin: () => announce(scene.catalog, ids),
      isDone: () => scene.receiver.bodies.size >= deliveries,
    });
  });
}

async function measurePrune(rows: number): Promise<void> {
  await withScene(async (scene) => {
    await addChannels(scene, 1);
    const file = join(scene.settings.dataFolder, 'catalog.sqlite');
    const db = new DatabaseSync(file);
    db.exec('pragma busy_timeout = 20000');
    // The demo's alerts have deliveries, too.
    const old = db.prepare('select 1 from deliveries where ended_at = 1 limit 1');
    const megabytes = (): string => `${Math.round(statSync(file).size / 1e6)} MB`;
    const empty = megabytes();
    await measureBeside(scene, `${rows} delivered rows forgotten`, {
      begin: async () => {
        const body = JSON.stringify({ type: 'alert.opened', data: { text: 'x'.repeat(700) } });
        db.prepare(
          `insert into deliveries (id, channel_id, event, subject, body, state, attempts, created_at, sent_at, ended_at)
           with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
           select 'old-' || i, (select id from channels), 'alert.opened', 'a', ?, 'sent', 1, 1, 1, 1 from n`,
        ).run(rows, body);
        print(`${rows} rows: ${megabytes()}, ${empty} without`);
      },
      isDone: () => old.get() === undefined,
    });
    db.close();
  });
}

async function run(): Promise<void> {
  const { kills, deliveries, rows, only }: Options = program.parse().opts();
  if (only === undefined || only === 'kills') await killSenders(kills);
  if (only === undefined || only === 'load') await measureLoad(deliveries);
  if (only === undefined || only === 'prune') await measurePrune(rows);
}

run().catch(fail);
