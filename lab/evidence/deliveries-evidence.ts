// npm run deliveries:evidence: kills of senders, and what deliveries cost those who ask. docs/research/deliveries.md has the results.
import '../../cli/threads.ts';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { fail, print } from '../../cli/cli.ts';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { announceAlert } from '../../server/catalog/outbox.ts';
import { requireProject } from '../../server/catalog/projects.ts';
import { sendDue } from '../../server/channels/send.ts';
import { addChannels, ask, PROJECT, printTimes, type Scene, withScene, withServer } from './delivery-scene.ts';
import { measureOld } from './old-deliveries.ts';

const SENDER = fileURLToPath(new URL('./send-deliveries.ts', import.meta.url));
/** A claim of a killed sender has passed after so many milliseconds. */
const CLAIM = 26_000;

interface Options {
  readonly kills: number;
  readonly deliveries: number;
  readonly rows: number;
  readonly minutes: number;
  readonly postgres?: boolean;
  readonly only?: string;
}

const program = new Command('deliveries:evidence')
  .option('--kills <n>', 'senders to kill', Number, 1000)
  .option('--deliveries <n>', 'deliveries beside requests', Number, 10_000)
  .option('--rows <n>', 'delivered rows to forget', Number, 1_000_000)
  .option('--minutes <n>', 'minutes to ask while they are forgotten', Number, 5)
  .option('--postgres', 'with catalogs in a PostgreSQL of its own: delivered rows only')
  .option('--only <part>', 'kills, load or prune');

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
    { delay: () => Math.random() * 10 },
  );
}

async function kill(sender: ChildProcess): Promise<boolean> {
  const exited = once(sender, 'exit');
  if (sender.exitCode !== null) return false;
  sender.kill('SIGKILL');
  await exited;
  return true;
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
        printTimes({ before, during });
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

async function run(): Promise<void> {
  const options: Options = program.parse().opts();
  const { kills, deliveries, only } = options;
  if (only === undefined || only === 'kills') await killSenders(kills);
  if (only === undefined || only === 'load') await measureLoad(deliveries);
  if (only === undefined || only === 'prune') await measureOld(options);
}

run().catch(fail);
